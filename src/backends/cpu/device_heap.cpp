#include "backends/cpu/device_heap.h"

#include <cstdlib>
#include <new>

#include "backends/cpu/allocations.h"

namespace km::cpu {
namespace {

constexpr uint64_t kAlignBytes = 16;

void free_memory(uint64_t address) {
  std::free(reinterpret_cast<void*>(address));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

uint64_t DeviceHeap::allocate(uint64_t size_bytes) {
  if (size_bytes == 0 || size_bytes > UINT64_MAX - kAlignBytes) return 0;
  const uint64_t rounded = (size_bytes + kAlignBytes - 1) / kAlignBytes * kAlignBytes;
  std::lock_guard lock(mutex_);
  if (used_bytes_ > limit_bytes_ || rounded > limit_bytes_ - used_bytes_) return 0;
  const auto address = reinterpret_cast<uint64_t>(std::aligned_alloc(kAlignBytes, rounded));
  if (address == 0) return 0;
  try {
    sizes_.emplace(address, size_bytes);
    allocations_->add(address, size_bytes);
  } catch (const std::bad_alloc&) {
    sizes_.erase(address);
    free_memory(address);
    return 0;
  }
  used_bytes_ += rounded;
  return address;
}

bool DeviceHeap::release(uint64_t address) {
  if (address == 0) return true;
  std::lock_guard lock(mutex_);
  const auto entry = sizes_.find(address);
  if (entry == sizes_.end()) return false;
  allocations_->remove(address, entry->second);
  used_bytes_ -= (entry->second + kAlignBytes - 1) / kAlignBytes * kAlignBytes;
  sizes_.erase(entry);
  free_memory(address);
  return true;
}

uint64_t DeviceHeap::limit_bytes() const {
  std::lock_guard lock(mutex_);
  return limit_bytes_;
}

void DeviceHeap::set_limit(uint64_t size_bytes) {
  std::lock_guard lock(mutex_);
  limit_bytes_ = size_bytes;
}

void DeviceHeap::clear() {
  std::lock_guard lock(mutex_);
  for (const auto& [address, size_bytes] : sizes_) {
    allocations_->remove(address, size_bytes);
    free_memory(address);
  }
  sizes_.clear();
  used_bytes_ = 0;
}

}  // namespace km::cpu
