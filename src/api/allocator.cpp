#include "base/memory/host_allocator.h"

#include "api/guard.h"

using namespace km;

km_status km_set_allocator(km_allocate_callback allocate, km_free_callback release,
                           void* user_data) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    if ((allocate == nullptr) != (release == nullptr)) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "%s is null and the other function is not",
                        allocate == nullptr ? "allocate" : "release");
    }
#ifdef KM_OWN_OPERATOR_NEW
    if (set_host_allocator(allocate, release, user_data)) return {};
    return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "the host is out of memory for the record");
#else
    static_cast<void>(user_data);
    return make_error(KM_ERROR_NOT_SUPPORTED, "this build leaves allocations to a sanitizer");
#endif
  });
}
