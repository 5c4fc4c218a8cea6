// The table of the memory that checked kernels may access.
#pragma once

#include <memory>
#include <mutex>

#include "backends/vulkan/device/staging.h"

namespace km::vulkan {

/// A copy of the context's ranges in memory that kernels read.
struct AllocationList {
  std::shared_ptr<Buffer> buffer;  // spirv::Allocation, ascending
  uint32_t count = 0;
};

class AllocationTable {
 public:
  /// The list as it is now; the same one until the context's memory changes.
  Result<AllocationList> current(Epoch& epoch, StagingPool& staging);

 private:
  std::mutex mutex_;  // guards the members below
  AllocationList latest_;
  uint64_t version_ = 0;
};

}  // namespace km::vulkan
