#include "api/call.h"

#include <cinttypes>
#include <new>

#include "core/error/status.h"
#include "core/error/thread_error.h"

namespace km {

Error Call::not_live(ObjectType type, uint64_t id, const char* parameter) {
  const char* expected = handle_type_name(type);
  if (id == 0) {
    return make_error(KM_ERROR_INVALID_HANDLE, "%s is null; expected a %s", parameter, expected);
  }
  const ObjectType claimed = claimed_type(id);
  const char* claimed_name = handle_type_name(claimed);
  if (*claimed_name == '\0') {
    return make_error(KM_ERROR_INVALID_HANDLE,
                      "%s is 0x%" PRIx64 ", which is not a handle of this library; expected a %s",
                      parameter, id, expected);
  }
  if (claimed != type) {
    return make_error(KM_ERROR_INVALID_HANDLE, "%s is 0x%" PRIx64 ", a %s; expected a %s",
                      parameter, id, claimed_name, expected);
  }
  return make_error(KM_ERROR_INVALID_HANDLE, "%s is 0x%" PRIx64 ", a %s that %s", parameter, id,
                    expected, handle_table(type).reason_not_live(id));
}

void Call::keep_further(HandleSlot* slot) {
  try {
    more_pins_.push_back(slot);
  } catch (const std::bad_alloc&) {
    HandleTable::unpin(slot);
    throw;
  }
}

void Call::reject_lost(const char* parameter) {
  error_ = make_error(KM_ERROR_CONTEXT_LOST,
                      "%s was lost when its context was reset; destroy it and create it again",
                      parameter);
}

km_status Call::fail(const Error& error) noexcept {
  if (is_error(error.status)) {
    set_thread_error(function_, error.status, error.message, error.native_code);
    if (context_ != nullptr) context_->record_error(function_, error);
  }
  return error.status;
}

km_status Call::fail(km_status status, const char* text) noexcept {
  set_thread_error(function_, status, text, 0);
  if (context_ != nullptr) context_->record_error(function_, status, text, 0);
  return status;
}

}  // namespace km
