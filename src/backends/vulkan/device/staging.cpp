#include "backends/vulkan/device/staging.h"

#include <algorithm>
#include <bit>

namespace km::vulkan {
namespace {

constexpr uint64_t kLeastBytes = 4096;
constexpr uint64_t kMostFreeBytes = 16 << 20;  // more is freed at once

}  // namespace

Result<std::shared_ptr<Buffer>> StagingPool::take(uint64_t size_bytes) {
  const uint64_t size = std::bit_ceil(std::max(size_bytes, kLeastBytes));
  std::unique_ptr<Buffer> taken;
  {
    const std::lock_guard lock(mutex_);
    std::vector<std::unique_ptr<Buffer>>& free = free_[size];
    if (!free.empty()) {
      taken = std::move(free.back());
      free.pop_back();
      free_bytes_ -= size;
    }
  }
  if (!taken) {
    KM_ASSIGN(taken, Buffer::of_host(epoch_, size));
  }
  const auto come_back = [pool = weak_from_this()](Buffer* buffer) {
    std::unique_ptr<Buffer> owned(buffer);
    if (const std::shared_ptr<StagingPool> alive = pool.lock()) alive->give_back(std::move(owned));
  };
  return std::shared_ptr<Buffer>(taken.release(), come_back);
}

void StagingPool::give_back(std::unique_ptr<Buffer> buffer) {
  const std::lock_guard lock(mutex_);
  const uint64_t size = buffer->size_bytes();
  if (free_bytes_ + size > kMostFreeBytes) return;
  free_bytes_ += size;
  free_[size].push_back(std::move(buffer));
}

}  // namespace km::vulkan
