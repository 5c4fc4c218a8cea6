// Memory pools of the driver API: one per device by default, used by all of its contexts.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <unordered_map>

#include "core/memory/pool.h"
#include "dropin/cuda/context/context.h"

namespace km::dropin {

class Pool final : public Handled {
 public:
  Pool(DeviceState& device, uint64_t limit_bytes) : device_(device), limit_bytes_(limit_bytes) {}
  /// A pool whose memory other processes may open.
  static Ref<Pool> shared(DeviceState& device, uint64_t limit_bytes);
  /// A pool of another process, which gives no memory of its own.
  static Ref<Pool> imported(DeviceState& device, int exporter);

  DeviceState& device() const { return device_; }
  bool can_be_shared() const { return is_shared_; }
  /// The process whose pool it is; 0: this one's.
  int exporter() const { return exporter_; }
  /// The core's pool behind it in a context.
  CUresult in_context(Context& context, Ref<km::Pool>* out);

  CUresult allocate(Stream& stream, uint64_t size_bytes, CUdeviceptr* out);
  /// Gives free memory back down to the threshold.
  void trim();
  void trim_to(uint64_t keep_bytes);
  /// The context is destroyed.
  void forget(const Context& context);
  /// The access that kernels of a device have to the pool's memory: those of its own device have
  /// all, others what set_access() said, at first none. Kernels of the CPU write where they may
  /// read, and go on to do so after access is taken back.
  CUmemAccess_flags access_of(const DeviceState& device);
  CUresult check_access(const DeviceState& device, CUmemAccess_flags flags) const;
  /// Access that has been checked.
  CUresult set_access(const DeviceState& device, CUmemAccess_flags flags);
  /// A context of any device has begun.
  CUresult enter(Context& context);
  CUresult get_attribute(CUmemPool_attribute attribute, void* value);
  CUresult set_attribute(CUmemPool_attribute attribute, const void* value);

 private:
  km_pool_info sum();
  CUresult admit(Context& user);
  CUresult admit_all();

  DeviceState& device_;
  const uint64_t limit_bytes_;
  bool is_shared_ = false;
  int exporter_ = 0;
  std::mutex mutex_;                                   // guards what follows
  std::unordered_map<uint64_t, Ref<km::Pool>> pools_;  // by context
  std::map<int, CUmemAccess_flags> access_;            // of other devices, by ordinal
  uint64_t threshold_bytes_ = 0;
  int reuse_[3] = {1, 1, 1};
};

/// The pools that a device has by itself, guarded by the mutex of the device.
struct DevicePools final : DevicePart {
  Ref<Pool> own, current;  // null: not yet; current null: the own one
};
/// With the mutex of the device.
DevicePools& pools_of(DeviceState& device);

/// The device's own pool, made at its first use.
Ref<Pool> default_pool(DeviceState& device);
/// The one that cuMemAllocAsync takes memory from.
Ref<Pool> current_pool(DeviceState& device);
/// A context has begun: it may use the pools that name its device.
CUresult enter_pools(Context& context);
/// At synchronisation: pools give back what they need not keep.
void trim_pools();
/// Something was freed into a pool.
void note_pool_free();

}  // namespace km::dropin
