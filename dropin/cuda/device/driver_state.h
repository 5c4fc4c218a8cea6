// The driver's state, one per process: its devices with their primary contexts, and all memory by
// address, in one address space for all devices.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "base/assert.h"
#include "core/device/device.h"
#include "core/memory/memory.h"
#include "dropin/cuda/frame/call.h"
#include "dropin/cuda/frame/handles.h"

namespace km::dropin {

/// The CUDA version that this driver reports.
inline constexpr int kDriverVersion = 13050;

/// Base of the state that upper layers attach to each device.
struct DevicePart {
  DevicePart() = default;
  DevicePart(const DevicePart&) = delete;
  DevicePart& operator=(const DevicePart&) = delete;
  virtual ~DevicePart() = default;
};

struct DeviceState {
  int ordinal = 0;     // the device's number in the program
  uint32_t index = 0;  // among all CPU devices; UUID and PCI address derive from it
  Ref<km::Device> device;
  std::mutex mutex;  // guards the members below
  // PrimaryContext and DevicePools; null until first use
  std::unique_ptr<DevicePart> primary, pools;

  /// Memory that programs have allocated. It never exceeds the limit, which is 0 until a context
  /// exists.
  std::atomic<uint64_t> used_bytes{0}, limit_bytes{0};
  /// Sets the limit to the free memory that the first context finds. The limit then stays, so that
  /// free memory as later calls report it changes only by the program's own allocations, whether
  /// their pages are touched or not.
  void limit_memory(uint64_t free_bytes) {
    uint64_t none = 0;
    limit_bytes.compare_exchange_strong(none, free_bytes);
  }
  uint64_t free_bytes() const {
    const uint64_t limit = limit_bytes.load();
    return limit - std::min(limit, used_bytes.load());
  }
  /// The part of used_bytes that graph nodes allocate.
  std::atomic<uint64_t> graph_bytes{0}, graph_high_bytes{0};
  CUresult reserve(uint64_t size_bytes);
  void unreserve(uint64_t size_bytes) {
    [[maybe_unused]] const uint64_t used = used_bytes.fetch_sub(size_bytes);
    KM_ASSERT(used >= size_bytes, "no more is returned than was reserved");
  }
};

/// The compute capability as one number: 90 for 9.0.
inline int capability_of(const DeviceState& device) {
  const km_device_info& info = device.device->info();
  return static_cast<int>(info.compute_capability_major * 10 + info.compute_capability_minor);
}

enum class AllocationKind : uint8_t {
  kDevice,
  kManaged,
  kHost,
  kRegistered,
  kMapped,
  kGraph,
  kVariable,  // memory of a module's variable or of an array; never freed by programs
  kManagedVariable,
  kImported,  // from another process
};

/// True for memory that the host and all devices share.
constexpr bool is_managed(AllocationKind kind) {
  return kind == AllocationKind::kManaged || kind == AllocationKind::kManagedVariable;
}

/// A program's advice on managed memory: stored only so that queries return it.
struct ManagedAdvice {
  bool is_read_mostly = false;
  CUmemLocation preferred{CU_MEM_LOCATION_TYPE_INVALID, 0};
  CUmemLocation last_prefetch{CU_MEM_LOCATION_TYPE_INVALID, 0};
  std::vector<int> accessed_by;  // device ordinals
};

/// Memory that a program has allocated and must free, or a variable whose address it has asked for.
struct Allocation {
  Ref<km::Memory> memory;
  AllocationKind kind = AllocationKind::kDevice;
  unsigned flags = 0;
  uint64_t size_bytes = 0;
  uint64_t buffer_id = 0;
  int device = 0;
  uint64_t context_id = 0;
  uint64_t pool_id = 0;
  ManagedAdvice advice;
};

class Driver {
 public:
  static Driver& instance();
  /// True once cuInit has succeeded.
  static bool is_ready() { return driver_is_ready.load(std::memory_order_acquire); }

  CUresult initialize();
  int device_count() const { return static_cast<int>(devices_.size()); }
  /// Null for an invalid ordinal.
  DeviceState* device(CUdevice ordinal) {
    const auto index = static_cast<size_t>(static_cast<unsigned>(ordinal));
    return index < devices_.size() ? devices_[index].get() : nullptr;
  }
  /// The device at a PCI bus number; null if the program does not see one there.
  DeviceState* device_at(uint32_t bus);

  // Adds an allocation. All contexts share one address space.
  void add(uint64_t address, Allocation allocation);
  /// Removes the allocation that begins at `address` if it is of one of these kinds.
  bool take(uint64_t address, uint32_t kinds, Allocation* out);
  /// Removes the allocation that begins at `address` if it is this memory.
  void drop(uint64_t address, const km::Memory& memory);
  /// Finds the allocation that contains the address.
  bool find(uint64_t address, uint64_t* out_begin, Allocation* out);
  /// Calls change(advice) for the allocation that contains the address, if there is one.
  template <class Change>
  void advise(uint64_t address, Change&& change) {
    const std::unique_lock lock(memory_mutex_);
    auto after = allocations_.upper_bound(address);
    if (after == allocations_.begin()) return;
    --after;
    if (address - after->first < after->second.size_bytes) change(after->second.advice);
  }
  /// Removes all allocations of a context and returns them.
  std::vector<Allocation> take_all(uint64_t context_id);

 private:
  Driver() = default;
  CUresult open_devices();

  std::mutex mutex_;
  std::vector<std::unique_ptr<DeviceState>> devices_;
  std::shared_mutex memory_mutex_;  // guards the members below
  std::map<uint64_t, Allocation> allocations_;
  uint64_t last_buffer_id_ = 0;
};

/// A kind's bit in the set that Driver::take() accepts.
constexpr uint32_t kind_bit(AllocationKind kind) { return 1U << static_cast<unsigned>(kind); }

}  // namespace km::dropin

/// Declares `variable`, the DeviceState of an ordinal, or returns CUDA_ERROR_INVALID_DEVICE.
#define CU_DEVICE(variable, ordinal)                                                            \
  ::km::dropin::DeviceState* const variable = ::km::dropin::Driver::instance().device(ordinal); \
  if ((variable) == nullptr)                                                                    \
  return ::km::dropin::fail(::km::cu::CUDA_ERROR_INVALID_DEVICE, "there is no device %d",       \
                            static_cast<int>(ordinal))
