#include "dropin/cuda/device/driver_state.h"

#include "base/assert.h"
#include "base/env.h"
#include "base/process/fork.h"
#include "core/object/handles.h"
#include "dropin/cuda/device/visible_devices.h"

namespace km::dropin {

CUresult DeviceState::reserve(uint64_t size_bytes) {
  const uint64_t limit = limit_bytes.load();
  uint64_t used = used_bytes.load();
  do {
    const uint64_t free = limit - std::min(limit, used);
    if (size_bytes > free) {
      return fail(CUDA_ERROR_OUT_OF_MEMORY,
                  "%llu bytes asked for; %llu of %llu are free (KM_CPU_MEMORY_MIB gives more)",
                  static_cast<unsigned long long>(size_bytes),
                  static_cast<unsigned long long>(free), static_cast<unsigned long long>(limit));
    }
  } while (!used_bytes.compare_exchange_weak(used, used + size_bytes));
  KM_ASSERT(used + size_bytes <= limit, "the programs use no more memory than the device has");
  return CUDA_SUCCESS;
}

Driver& Driver::instance() {
  static Driver& driver = *new Driver;  // never destroyed: calls may come during exit
  return driver;
}

CUresult Driver::initialize() {
  if (is_forked()) return require_ready();
  const std::lock_guard lock(mutex_);
  if (is_ready()) return CUDA_SUCCESS;
  CU_TRY(open_devices());
  KM_ASSERT(!devices_.empty(), "a driver that is ready has devices");
  driver_is_ready.store(true, std::memory_order_release);
  return CUDA_SUCCESS;
}

CUresult Driver::open_devices() {
  CU_ASSIGN(const uint32_t count, km::device_count("cpu"));
  std::vector<std::unique_ptr<DeviceState>> opened;
  const auto visible = visible_devices(foreign_env_or_empty("CUDA_VISIBLE_DEVICES"), count);
  for (const uint32_t index : visible) {
    auto state = std::make_unique<DeviceState>();
    state->ordinal = static_cast<int>(opened.size());
    state->index = index;
    CU_ASSIGN(state->device, km::Device::open("cpu:" + std::to_string(index)));
    opened.push_back(std::move(state));
  }
  devices_ = std::move(opened);
  if (!devices_.empty()) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_NO_DEVICE, "CUDA_VISIBLE_DEVICES leaves none of %u devices", count);
}

DeviceState* Driver::device_at(uint32_t bus) {
  for (const auto& device : devices_) {
    if (device->index == bus) return device.get();
  }
  return nullptr;
}

void Driver::add(uint64_t address, Allocation allocation) {
  KM_ASSERT(address != 0 && allocation.memory && allocation.size_bytes != 0,
            "an entry that is found by its address is an allocation");
  KM_ASSERT(device(allocation.device) != nullptr, "memory belongs to a device of the driver");
  const std::unique_lock lock(memory_mutex_);
  allocation.buffer_id = ++last_buffer_id_;
  allocations_.insert_or_assign(address, std::move(allocation));
}

bool Driver::take(uint64_t address, uint32_t kinds, Allocation* out) {
  const std::unique_lock lock(memory_mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || (kinds & kind_bit(found->second.kind)) == 0) return false;
  *out = std::move(found->second);
  allocations_.erase(found);
  return true;
}

void Driver::drop(uint64_t address, const km::Memory& memory) {
  Allocation gone;  // released after the lock
  const std::unique_lock lock(memory_mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second.memory.get() != &memory) return;
  gone = std::move(found->second);
  allocations_.erase(found);
}

bool Driver::find(uint64_t address, uint64_t* out_begin, Allocation* out) {
  const std::shared_lock lock(memory_mutex_);
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return false;
  --after;
  if (address - after->first >= after->second.size_bytes) return false;
  KM_ASSERT(after->second.buffer_id != 0 && after->second.buffer_id <= last_buffer_id_,
            "a buffer has the number that add() gave it");
  *out_begin = after->first;
  *out = after->second;
  return true;
}

std::vector<Allocation> Driver::take_all(uint64_t context_id) {
  std::vector<Allocation> taken;
  const std::unique_lock lock(memory_mutex_);
  for (auto at = allocations_.begin(); at != allocations_.end();) {
    if (at->second.context_id == context_id) {
      taken.push_back(std::move(at->second));
      at = allocations_.erase(at);
    } else {
      ++at;
    }
  }
  return taken;
}

}  // namespace km::dropin
