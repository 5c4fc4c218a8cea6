#include "backends/cpu/device/device.h"

#include <algorithm>
#include <cinttypes>
#include <string>

#include "backends/cpu/config/config.h"
#include "backends/cpu/config/topology.h"
#include "backends/cpu/memory/heap.h"

namespace km::cpu {
namespace {

/// One device's share of the machine's memory. It is computed once, because the description of a
/// device must not change during the life of the process.
const DeviceMemory& memory_of_each() {
  static const DeviceMemory each = [] {
    const DeviceMemory all = device_memory(system_memory(), config().memory_bytes);
    return DeviceMemory{all.total_bytes / config().devices, all.most_bytes / config().devices};
  }();
  return each;
}

}  // namespace

Status Device::take_memory(uint64_t size_bytes) {
  const uint64_t most = memory_of_each().most_bytes;
  const uint64_t before = taken_bytes_.fetch_add(size_bytes);
  if (before <= most && size_bytes <= most - before) [[likely]]
    return {};
  taken_bytes_.fetch_sub(size_bytes);
  const uint64_t free = most - std::min(most, before);
  return make_error(
      KM_ERROR_OUT_OF_DEVICE_MEMORY,
      "out of device memory: %" PRIu64
      " bytes (%s) asked for, %s free of the %s that are the share of cpu:%u (%sKM_CPU_DEVICES, "
      "KM_CPU_MEMORY_MIB)",
      size_bytes, mib(size_bytes).c_str(), mib(free).c_str(), mib(most).c_str(), ordinal_,
      config().memory_bytes == 0 ? "half of the memory that was free at the start, so that the "
                                   "program's own copies have room; "
                                 : "");
}

void Device::share_memory(uint64_t* free_bytes, uint64_t* total_bytes) const {
  const DeviceMemory& memory = memory_of_each();
  *total_bytes = memory.total_bytes;
  *free_bytes =
      std::min(*free_bytes, memory.most_bytes - std::min(taken_bytes_.load(), memory.most_bytes));
}

uint64_t Device::memory_bytes() const { return memory_of_each().total_bytes; }

Result<ThreadPool*> Device::pool(Result<ThreadPool*> (*start)(const ThreadPoolOptions& options)) {
  std::lock_guard lock(mutex_);
  if (pool_ == nullptr) {
    KM_ASSIGN(pool_, start(options_));
  }
  return pool_;
}

}  // namespace km::cpu
