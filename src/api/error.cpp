#include "api/guard.h"
#include "api/output.h"
#include "core/status.h"
#include "core/thread_error.h"

using namespace km;

namespace {

Result<const StatusText*> text_of(km_status status) {
  if (const StatusText* text = status_text(status)) return text;
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%d is no status of this library", status);
}

// Reading the last error must not replace it, so these calls set no text of their own.
km_status read_error(const char* function, Status (*body)(char*, uint64_t, uint64_t*), char* buffer,
                     uint64_t capacity_bytes, uint64_t* out_size_bytes) noexcept {
  try {
    const Status status = body(buffer, capacity_bytes, out_size_bytes);
    return status ? KM_SUCCESS : status.error().status;
  } catch (...) {
    return Call(function).fail(KM_ERROR_OUT_OF_HOST_MEMORY, "the host is out of memory");
  }
}

}  // namespace

km_status km_status_name(km_status status, const char** out_name) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_name);
    KM_ASSIGN(const StatusText* text, text_of(status));
    *out_name = text->name;
    return {};
  });
}

km_status km_status_description(km_status status, const char** out_description) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_description);
    KM_ASSIGN(const StatusText* text, text_of(status));
    *out_description = text->description;
    return {};
  });
}

km_status km_status_recovery(km_status status, const char** out_suggestion) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_suggestion);
    KM_ASSIGN(const StatusText* text, text_of(status));
    *out_suggestion = text->recovery;
    return {};
  });
}

km_status km_status_category(km_status status, km_error_category* out_category) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_category);
    KM_ASSIGN(const StatusText* text, text_of(status));
    *out_category = text->category;
    return {};
  });
}

km_status km_last_error_message(char* buffer, uint64_t capacity_bytes,
                                uint64_t* out_size_bytes) noexcept {
  const auto body = [](char* to, uint64_t capacity, uint64_t* out_size) {
    return give_text(thread_error_message(), to, capacity, out_size);
  };
  return read_error(__func__, body, buffer, capacity_bytes, out_size_bytes);
}

km_status km_last_error_native_code(int64_t* out_code) noexcept {
  if (out_code == nullptr) return KM_ERROR_INVALID_ARGUMENT;
  *out_code = thread_error_native_code();
  return KM_SUCCESS;
}
