#include "backends/cuda/context/context.h"

#include "backends/cuda/driver/entries.h"
#include "backends/cuda/driver/let_go.h"
#include "backends/cuda/driver/reaper.h"

namespace km::cuda {
namespace {

/// Tests if a newly retained primary context works.
Status try_out(const Context& context, Epoch& epoch) {
  const Current current(epoch);
  KM_TRY(require_current(epoch, current));
  KM_TRY(epoch.allocation_stream());
  KM_TRY(context.set_limits_again(epoch));
  return epoch.check(driver().cuCtxSynchronize());
}

/// Waits for all work of the process on the device.
Status drain(Epoch& epoch) {
  const Current current(epoch);
  KM_TRY(require_current(epoch, current));
  return epoch.check(driver().cuCtxSynchronize());
}

Status set_context_access(Epoch& epoch, const Epoch& peer, bool is_enabled) {
  const Current current(epoch);
  KM_TRY(require_current(epoch, current));
  const Called called = is_enabled ? driver().cuCtxEnablePeerAccess(peer.handle(), 0)
                                   : driver().cuCtxDisablePeerAccess(peer.handle());
  const cu::CUresult is_so_already = is_enabled ? cu::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
                                                : cu::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  return called.result == is_so_already ? Status() : epoch.check(called);
}

/// Sets the access to the pool's memory, which peer access does not cover.
Status set_pool_access(const Epoch& epoch, Epoch& peer, bool is_enabled) {
  const Current current(peer);
  KM_TRY(require_current(peer, current));
  return peer.set_pool_access(epoch, is_enabled);
}

}  // namespace

Result<std::shared_ptr<Epoch>> live_epoch(kmb_context* context) {
  std::shared_ptr<Epoch> epoch = from(context)->epoch();
  KM_TRY(epoch->require_alive());
  return epoch;
}

km_status context_create(kmb_device* device, kmb_context** out_context, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    PrimaryContext& primary = from(device)->primary();
    KM_ASSIGN(std::shared_ptr<Epoch> epoch, primary.retain());
    KM_TRY(epoch->require_alive());
    *out_context = to(std::make_unique<Context>(primary, std::move(epoch)).release());
    return {};
  });
}

void context_destroy(kmb_context* context) { let_go(std::unique_ptr<Context>(from(context))); }

km_status context_synchronize(kmb_context* context, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<Epoch> epoch, live_epoch(context));
    KM_TRY(drain(*epoch));
    from(context)->profile()->collect();
    wake_reaper();
    return {};
  });
}

km_status context_memory_info(kmb_context* context, uint64_t* out_free_bytes,
                              uint64_t* out_total_bytes, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    const std::shared_ptr<Epoch> epoch = from(context)->epoch();
    size_t free_bytes = 0, total_bytes = 0;
    if (epoch->has_failed()) {  // a failed context cannot allocate
      KM_TRY(check(driver().cuDeviceTotalMem_v2(&total_bytes, epoch->gpu().device())));
      *out_free_bytes = 0;
      *out_total_bytes = total_bytes;
      return {};
    }
    const Current current(*epoch);
    KM_TRY(require_current(*epoch, current));
    KM_TRY(epoch->check(driver().cuMemGetInfo_v2(&free_bytes, &total_bytes)));
    *out_free_bytes = free_bytes + epoch->unused_pool_bytes();
    *out_total_bytes = total_bytes;
    return {};
  });
}

km_status context_reset(kmb_context* handle, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Context& context = *from(handle);
    const std::shared_ptr<Epoch> lost = context.epoch();
    // The rest of the process uses the primary context too. If it has not failed, the reset
    // destroys nothing of it and waits for queued work.
    const Status drained = lost->has_failed() ? Status() : drain(*lost);
    if (!lost->has_failed()) {
      wake_reaper();
      return drained;
    }
    lost->finish_lost_calls();
    const auto process_lost = [&](const Error& why) {
      return Error{KM_ERROR_PROCESS_LOST,
                   device_uri(context.primary().gpu().ordinal()) +
                       " cannot be used again by this process, as CUDA has it after a fault of a "
                       "kernel: end the process and start it again (" +
                       why.message + ")",
                   why.native_code};
    };
    Result<std::shared_ptr<Epoch>> fresh = context.primary().replace(lost);
    if (!fresh) return process_lost(fresh.error());
    const Status works = try_out(context, **fresh);
    if (!works) return process_lost(works.error());
    context.set_epoch(*fresh);
    return {};
  });
}

km_status context_status(kmb_context* context, kmb_error* error) {
  const std::shared_ptr<Epoch> epoch = from(context)->epoch();
  if (!epoch->has_failed()) return KM_SUCCESS;
  return guarded(error, [&]() -> Status { return epoch->failure(); });
}

km_status context_set_output(kmb_context*, km_output_callback callback, void*, kmb_error* error) {
  if (callback == nullptr) return KM_SUCCESS;
  return guarded(error, [&]() -> Status {
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "the CUDA driver writes the output of kernels to standard output only");
  });
}

km_status context_set_peer_access(kmb_context* context, kmb_context* peer, uint32_t enabled,
                                  kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<Epoch> epoch, live_epoch(context));
    KM_ASSIGN(const std::shared_ptr<Epoch> other, live_epoch(peer));
    if (epoch == other) return {};  // contexts of one device share its memory anyway
    // Other contexts still use the peer's memory.
    if (!epoch->count_peer(*other, enabled != 0)) return {};
    Status set = set_context_access(*epoch, *other, enabled != 0);
    if (set) set = set_pool_access(*epoch, *other, enabled != 0);
    if (!set) epoch->count_peer(*other, enabled == 0);
    return set;
  });
}

km_status context_profile(kmb_context* context, uint32_t on, kmb_profile_callback callback,
                          void* user_data, km_release_callback release, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    const Context& owner = *from(context);
    return owner.profile()->set(on != 0, owner.epoch(), callback, user_data, release);
  });
}

}  // namespace km::cuda
