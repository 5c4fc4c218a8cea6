#include "dropin/cupti/activity/records.h"

namespace km::cupti {

size_t record_bytes(int32_t kind, int major) noexcept {
  const bool is_new = major >= 13;
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return is_new ? 248 : sizeof(KernelRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return is_new ? 112 : sizeof(CopyRecord);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return is_new ? 104 : sizeof(FillRecord);
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return sizeof(ApiRecord);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(ExternalRecord);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(WaitRecord);
    default:
      return 0;
  }
}

}  // namespace km::cupti
