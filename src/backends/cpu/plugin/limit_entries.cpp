// Vtable entries for the limits of contexts.
#include <algorithm>
#include <cinttypes>

#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "base/integers.h"
#include "simt/engine.h"

namespace km::cpu {
namespace {

constexpr uint64_t kDefaultPendingLaunches = 2048;  // the default of GPUs
// Requests are rounded up, so that similar sizes share compiled code.
constexpr uint64_t kStackAlignBytes = 1024;
constexpr int64_t kUnsupportedLimit = 215;  // CUDA_ERROR_UNSUPPORTED_LIMIT

Error no_such_limit(km_context_limit limit) {
  const char* why = "caches are the processor's business";
  if (limit == KM_CONTEXT_LIMIT_SYNC_DEPTH) why = "kernels cannot wait for those they launch";
  Error error = make_error(KM_ERROR_NOT_SUPPORTED, "CPU devices have no limit %d: %s", limit, why);
  error.native_code = kUnsupportedLimit;
  return error;
}

/// Sets the stack of device threads. Requests below the default are raised to it.
Status set_stack(Context* context, uint64_t size_bytes) {
  if (size_bytes <= simt::kMostThreadStackBytes) {
    const uint64_t size = std::max(round_up(size_bytes, kStackAlignBytes), simt::kThreadStackBytes);
    context->thread_stack_bytes().store(size);
    return {};
  }
  Error error = make_error(KM_ERROR_NOT_SUPPORTED,
                           "%" PRIu64
                           " bytes of stack for each thread are asked for; CPU devices have up to "
                           "%" PRIu64,
                           size_bytes, simt::kMostThreadStackBytes);
  error.native_code = kUnsupportedLimit;
  return error;
}

}  // namespace

km_status context_limit_get(kmb_context* handle, km_context_limit limit, uint64_t* out_value,
                            kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Context* context = from(handle);
    switch (limit) {
      case KM_CONTEXT_LIMIT_STACK_BYTES:
        *out_value = context->thread_stack_bytes().load();
        return {};
      case KM_CONTEXT_LIMIT_PRINTF_BYTES:
        *out_value = context->output().limit_bytes();
        return {};
      case KM_CONTEXT_LIMIT_HEAP_BYTES:
        *out_value = context->device_heap().limit_bytes();
        return {};
      case KM_CONTEXT_LIMIT_PENDING_LAUNCHES:
        *out_value = context->pending_launches().load();
        if (*out_value == 0) *out_value = kDefaultPendingLaunches;
        return {};
      default:
        return no_such_limit(limit);
    }
  });
}

km_status context_limit_set(kmb_context* handle, km_context_limit limit, uint64_t value,
                            kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Context* context = from(handle);
    switch (limit) {
      case KM_CONTEXT_LIMIT_STACK_BYTES:
        return set_stack(context, value);
      case KM_CONTEXT_LIMIT_PRINTF_BYTES:
        context->output().set_limit(value);
        return {};
      case KM_CONTEXT_LIMIT_HEAP_BYTES:
        context->device_heap().set_limit(value);
        return {};
      case KM_CONTEXT_LIMIT_PENDING_LAUNCHES:
        context->pending_launches().store(std::max<uint64_t>(value, 1));
        return {};
      default:
        return no_such_limit(limit);
    }
  });
}

}  // namespace km::cpu
