// Contexts: primary contexts, created contexts, and each thread's stack.
#include <algorithm>

#include "core/object/callback.h"
#include "dropin/cuda/context/context.h"
#include "dropin/cuda/memory/pool.h"
#include "dropin/cuda/stream/stream.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult create_context(CUcontext* out, unsigned flags, CUdevice ordinal) {
  CU_REQUIRE(out);
  CU_DEVICE(device, ordinal);
  if ((flags & ~CU_CTX_FLAGS_MASK) != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%x has unknown bits", flags);
  }
  Ref<dropin::Context> context;
  CU_TRY(dropin::Context::create(*device, flags, false, &context));
  const CUcontext handle = handle_of(*context);
  DestroyUnlessKept failed(*context);
  push_context(std::move(context));
  failed.keep();
  *out = handle;
  return CUDA_SUCCESS;
}

/// A null handle results in a null context, without an error.
CUresult find_context(CUcontext handle, Ref<dropin::Context>* out) {
  if (handle == nullptr) return CUDA_SUCCESS;
  const Pin<dropin::Context> pinned(handle);
  if (!pinned) return fail(CUDA_ERROR_INVALID_CONTEXT, "the context is not a live handle");
  if (pinned->is_destroyed())
    return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context is destroyed");
  *out = Ref<dropin::Context>::share(*pinned);
  return CUDA_SUCCESS;
}

/// The context of a handle; null selects the current context.
CUresult given_or_current(CUcontext handle, Ref<dropin::Context>* out) {
  CU_TRY(find_context(handle, out));
  if (*out) return CUDA_SUCCESS;
  CU_CURRENT(context);
  *out = Ref<dropin::Context>::share(*context);
  return CUDA_SUCCESS;
}

CUresult destroy_context(CUcontext handle) {
  CU_REQUIRE(handle);
  Ref<dropin::Context> context;
  CU_TRY(find_context(handle, &context));
  if (context->is_primary()) {
    return fail(CUDA_ERROR_INVALID_CONTEXT, "a primary context is released, not destroyed");
  }
  CU_ASSIGN(const MayBlock may_block, require_may_block());
  context->destroy(may_block);
  if (current_context_or_null() == context.get()) set_current_context(nullptr);
  forget_popped_context();
  return CUDA_SUCCESS;
}

CUresult no_affinity() {
  return fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "a context always has all multiprocessors");
}

CUresult no_limit(CUlimit limit) {
  return fail(CUDA_ERROR_UNSUPPORTED_LIMIT, "there is no limit %d, or it cannot be set", limit);
}

CUresult no_peer() {
  return fail(CUDA_ERROR_INVALID_CONTEXT, "the peer is null, or the current context itself");
}

constexpr size_t kMostStackBytes = size_t{512} << 10;  // per thread, as on GPUs

/// Limits that affect the engine. The core's limit numbers are CUDA's, from 1 on.
bool is_engines(CUlimit limit) {
  static_assert(KM_CONTEXT_LIMIT_HEAP_BYTES == CU_LIMIT_MALLOC_HEAP_SIZE + 1);
  return limit == CU_LIMIT_PRINTF_FIFO_SIZE || limit == CU_LIMIT_MALLOC_HEAP_SIZE ||
         limit == CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT;
}

}  // namespace

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice ordinal) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_DEVICE(device, ordinal);
    Ref<dropin::Context> primary;
    CU_TRY(retain_primary(*device, &primary));
    *out = handle_of(*primary);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
  return guard(__func__, [&]() -> CUresult {
    CU_DEVICE(device, ordinal);
    CU_ASSIGN(const MayBlock may_block, require_may_block());
    return release_primary(may_block, *device);
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) {
  return cuDevicePrimaryCtxRelease_v2(ordinal);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
  return guard(__func__, [&]() -> CUresult {
    CU_DEVICE(device, ordinal);
    CU_ASSIGN(const MayBlock may_block, require_may_block());
    const std::lock_guard lock(device->mutex);
    const PrimaryContext& primary = primary_of(*device);
    if (!primary.context) return CUDA_SUCCESS;
    primary.context->deactivate(may_block);
    return primary.retain_count != 0 ? primary.context->activate() : CUresult{CUDA_SUCCESS};
  });
}

CUresult cuDevicePrimaryCtxReset(CUdevice ordinal) { return cuDevicePrimaryCtxReset_v2(ordinal); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_DEVICE(device, ordinal);
    if ((flags & ~CU_CTX_FLAGS_MASK) != 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%x has unknown bits", flags);
    }
    const std::lock_guard lock(device->mutex);
    PrimaryContext& primary = primary_of(*device);
    primary.flags = flags;
    if (primary.context) primary.context->set_flags(flags);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned int flags) {
  return cuDevicePrimaryCtxSetFlags_v2(ordinal, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int* flags, int* active) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(flags);
    CU_REQUIRE(active);
    CU_DEVICE(device, ordinal);
    const std::lock_guard lock(device->mutex);
    const PrimaryContext& primary = primary_of(*device);
    *flags = primary.flags;
    *active = primary.context && !primary.context->is_destroyed() ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxCreate_v2(CUcontext* out, unsigned int flags, CUdevice device) {
  return guard(__func__, [&] { return create_context(out, flags, device); });
}

CUresult cuCtxCreate(CUcontext* out, unsigned int flags, CUdevice device) {
  return guard(__func__, [&] { return create_context(out, flags, device); });
}

CUresult cuCtxCreate_v3(CUcontext* out, CUexecAffinityParam*, int count, unsigned int flags,
                        CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    if (count != 0) return no_affinity();
    return create_context(out, flags, device);
  });
}

CUresult cuCtxCreate_v4(CUcontext* out, CUctxCreateParams* params, unsigned int flags,
                        CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    if (params != nullptr && params->numExecAffinityParams != 0) {
      return no_affinity();
    }
    if (params != nullptr && params->cigParams != nullptr) {
      return fail(CUDA_ERROR_NOT_SUPPORTED, "contexts cannot share resources with graphics APIs");
    }
    return create_context(out, flags, device);
  });
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  return guard(__func__, [&] { return destroy_context(handle); });
}

CUresult cuCtxDestroy(CUcontext handle) { return cuCtxDestroy_v2(handle); }

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  return guard_light(__func__, [&]() -> CUresult {
    if (push_known_context(handle)) return CUDA_SUCCESS;
    Ref<dropin::Context> context;
    CU_TRY(find_context(handle, &context));
    if (!context) return fail(CUDA_ERROR_INVALID_CONTEXT, "ctx is null");
    push_context(std::move(context));
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent(CUcontext handle) { return cuCtxPushCurrent_v2(handle); }

CUresult cuCtxPopCurrent_v2(CUcontext* out) {
  return guard_light(__func__, [&]() -> CUresult {
    CUcontext popped = nullptr;
    if (!pop_context(&popped)) {
      return fail(CUDA_ERROR_INVALID_CONTEXT, "the thread's stack of contexts is empty");
    }
    if (out != nullptr) *out = popped;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent(CUcontext* out) { return cuCtxPopCurrent_v2(out); }

CUresult cuCtxSetCurrent(CUcontext handle) {
  return guard_light(__func__, [&]() -> CUresult {
    const auto* const context_now = current_context_or_null();
    if (context_now != nullptr && handle_of(*context_now) == handle &&
        !context_now->is_destroyed()) {
      return CUDA_SUCCESS;
    }
    Ref<dropin::Context> context;
    CU_TRY(find_context(handle, &context));
    set_current_context(std::move(context));
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* out) {
  return guard_light(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    const auto* const context = current_context_or_null();
    *out = context != nullptr ? handle_of(*context) : nullptr;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxAttach(CUcontext* out, unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u; it must be 0", flags);
    CU_CURRENT(context);
    context->attach();
    *out = handle_of(*context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxDetach(CUcontext handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(handle);
    Ref<dropin::Context> context;
    CU_TRY(find_context(handle, &context));
    if (current_context_or_null() != context.get()) {
      return fail(CUDA_ERROR_INVALID_CONTEXT, "the context is not current on this thread");
    }
    if (!context->detach()) return CUDA_SUCCESS;
    if (context->is_primary()) context->attach();  // a user of the primary context stays
    return destroy_context(handle);
  });
}

CUresult cuCtxGetDevice(CUdevice* out) {
  return guard_light(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_CURRENT(context);
    *out = context->device().ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* out, CUcontext handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    Ref<dropin::Context> context;
    CU_TRY(given_or_current(handle, &context));
    *out = context->device().ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(flags);
    CU_CURRENT(context);
    *flags = context->flags();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetFlags(unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    if ((flags & ~CU_CTX_FLAGS_MASK) != 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%x has unknown bits", flags);
    }
    context->set_flags(flags);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(id);
    Ref<dropin::Context> context;
    CU_TRY(given_or_current(handle, &context));
    *id = context->life();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int* version) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(version);
    Ref<dropin::Context> context;
    CU_TRY(given_or_current(handle, &context));
    *version = 3020;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    return context->synchronize();
  });
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return guard(__func__, [&]() -> CUresult {
    Ref<dropin::Context> context;
    CU_TRY(given_or_current(handle, &context));
    return context->synchronize();
  });
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    CU_CURRENT(context);
    if (limit < 0 || limit >= CU_LIMIT_MAX) return no_limit(limit);
    if (is_engines(limit)) {
      CU_ASSIGN(*value, context->core()->limit(limit + 1));
      return CUDA_SUCCESS;
    }
    *value = context->limits().value[static_cast<size_t>(limit)];
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    if (limit < 0 || limit >= CU_LIMIT_MAX) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no limit %d", limit);
    }
    if (limit > CU_LIMIT_PERSISTING_L2_CACHE_SIZE) return no_limit(limit);
    if (is_engines(limit)) {
      CU_CHECK(context->core()->set_limit(limit + 1, value));
      return CUDA_SUCCESS;
    }
    if (limit == CU_LIMIT_STACK_SIZE) {
      // a request: cuCtxGetLimit returns the actual value
      value = std::min(value, kMostStackBytes);
      CU_CHECK(context->core()->set_limit(KM_CONTEXT_LIMIT_STACK_BYTES, value));
    }
    context->limits().value[static_cast<size_t>(limit)] = value;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(config);
    CU_CURRENT(context);
    *config = context->cache_config();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    if (config < 0 || config > CU_FUNC_CACHE_PREFER_EQUAL) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no preference %d of caches", config);
    }
    context->cache_config() = config;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(config);
    CU_CURRENT(context);
    *config = context->shared_config();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    if (config < 0 || config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no configuration %d of banks", config);
    }
    context->shared_config() = config;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    km::Device& device = context->core()->device();
    CU_ASSIGN(const int64_t low, device.attribute(KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST));
    CU_ASSIGN(const int64_t high, device.attribute(KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST));
    if (least != nullptr) *least = static_cast<int>(low);
    if (greatest != nullptr) *greatest = static_cast<int>(high);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxResetPersistingL2Cache() {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    static_cast<void>(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u; it must be 0", flags);
    Ref<dropin::Context> peer;
    CU_TRY(find_context(handle, &peer));
    if (!peer || peer.get() == context) return no_peer();
    if (context->core()->may_use(*peer->core())) {
      return fail(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "the context may use the peer already");
    }
    CU_CHECK(context->core()->set_peer_access(*peer->core(), true));
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    Ref<dropin::Context> peer;
    CU_TRY(find_context(handle, &peer));
    if (!peer || peer.get() == context) return no_peer();
    if (!context->core()->may_use(*peer->core())) {
      return fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "the context may not use the peer");
    }
    CU_CHECK(context->core()->set_peer_access(*peer->core(), false));
    return enter_pools(*context);  // pools may give access to each other's devices
  });
}

}  // extern "C"

}  // namespace km::cu
