// Memory pools of the driver API: each device has a default one, which all its contexts use.
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
  /// Creates a pool whose memory other processes may open.
  static Ref<Pool> shared(DeviceState& device, uint64_t limit_bytes);
  /// Creates a pool that represents another process's pool; nothing can be allocated from it.
  static Ref<Pool> imported(DeviceState& device, int exporter);

  DeviceState& device() const { return device_; }
  bool can_be_shared() const { return is_shared_; }
  /// The id of the process that owns the pool; 0: this process.
  int exporter() const { return exporter_; }
  /// The core's pool that holds this pool's memory in a context.
  CUresult in_context(Context& context, Ref<km::Pool>* out);

  CUresult allocate(Stream& stream, uint64_t size_bytes, CUdeviceptr* out);
  /// Frees unused memory beyond the release threshold.
  void trim();
  void trim_to(uint64_t keep_bytes);
  /// Called when the context is destroyed.
  void forget(const Context& context);
  /// The access that a device's kernels have to the pool's memory: full access on its own device;
  /// on others the access by set_access(), initially none. On the CPU, kernels with read access can
  /// also write, and keep both after access is revoked.
  CUmemAccess_flags access_of(const DeviceState& device);
  CUresult check_access(const DeviceState& device, CUmemAccess_flags flags) const;
  /// Sets a device's access, which the caller has validated.
  CUresult set_access(const DeviceState& device, CUmemAccess_flags flags);
  /// Called when a context of any device begins.
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
  std::mutex mutex_;                                   // guards the members below
  std::unordered_map<uint64_t, Ref<km::Pool>> pools_;  // by context
  std::map<int, CUmemAccess_flags> access_;            // other devices' access, by ordinal
  uint64_t threshold_bytes_ = 0;
  int reuse_[3] = {1, 1, 1};
};

/// A device's default and current pool, guarded by the device's mutex.
struct DevicePools final : DevicePart {
  Ref<Pool> own, current;  // null until first use; current null: the default pool
};
/// The caller holds the device's mutex.
DevicePools& pools_of(DeviceState& device);

/// The device's default pool, created at first use.
Ref<Pool> default_pool(DeviceState& device);
/// The pool from which cuMemAllocAsync allocates.
Ref<Pool> current_pool(DeviceState& device);
/// Called when a context begins: grants it the pools that give its device access.
CUresult enter_pools(Context& context);
/// Called at synchronisation: pools free unused memory beyond their thresholds.
void trim_pools();
/// Called when memory is freed into a pool.
void note_pool_free();

}  // namespace km::dropin
