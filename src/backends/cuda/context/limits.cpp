// Limits of the primary context, which all contexts of a device share.
#include <cinttypes>

#include "backends/cuda/context/context.h"
#include "backends/cuda/driver/entries.h"

namespace km::cuda {
namespace {

/// CUDA's number of a limit is one less than the library's.
cu::CUlimit native(km_context_limit limit) { return limit - 1; }

}  // namespace

Status set_limit(Epoch& epoch, km_context_limit limit, uint64_t value) {
  const Called called = driver().cuCtxSetLimit(native(limit), value);
  if (called.result == cu::CUDA_ERROR_INVALID_VALUE) {
    Error error = make_error(KM_ERROR_NOT_SUPPORTED, "%s cannot have %" PRIu64 " as its limit %d",
                             device_uri(epoch.gpu().ordinal()).c_str(), value, limit);
    error.native_code = called.result;
    return error;
  }
  return epoch.check(called);
}

void Context::remember_limit(km_context_limit limit, uint64_t value) {
  const std::lock_guard lock(mutex_);
  limits_[limit] = value;
}

Status Context::set_limits_again(Epoch& epoch) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [limit, value] : limits_) KM_TRY(set_limit(epoch, limit, value));
  return {};
}

km_status context_limit_get(kmb_context* context, km_context_limit limit, uint64_t* out_value,
                            kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<Epoch> epoch, live_epoch(context));
    const Current current(*epoch);
    KM_TRY(require_current(*epoch, current));
    size_t value = 0;
    KM_TRY(epoch->check(driver().cuCtxGetLimit(&value, native(limit))));
    *out_value = value;
    return {};
  });
}

km_status context_limit_set(kmb_context* context, km_context_limit limit, uint64_t value,
                            kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<Epoch> epoch, live_epoch(context));
    const Current current(*epoch);
    KM_TRY(require_current(*epoch, current));
    KM_TRY(set_limit(*epoch, limit, value));
    from(context)->remember_limit(limit, value);
    return {};
  });
}

}  // namespace km::cuda
