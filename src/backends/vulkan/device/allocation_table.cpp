#include "backends/vulkan/device/allocation_table.h"

#include <algorithm>
#include <vector>

#include "spirv/spirv.h"

namespace km::vulkan {

Result<AllocationList> AllocationTable::current(Epoch& epoch, StagingPool& staging) {
  const std::lock_guard lock(mutex_);
  if (version_ == epoch.device_memory().version()) return latest_;
  uint64_t version = 0;
  const std::vector<BufferMap::Range> ranges = epoch.device_memory().ranges(&version);
  KM_ASSIGN(const std::shared_ptr<Buffer> buffer,
            staging.take(std::max<size_t>(ranges.size(), 1) * sizeof(spirv::Allocation)));
  auto* const list = static_cast<spirv::Allocation*>(buffer->mapped());
  std::transform(ranges.begin(), ranges.end(), list, [](const BufferMap::Range& range) {
    return spirv::Allocation{range.begin, range.end};
  });
  latest_ = {buffer, static_cast<uint32_t>(ranges.size())};
  version_ = version;
  return latest_;
}

}  // namespace km::vulkan
