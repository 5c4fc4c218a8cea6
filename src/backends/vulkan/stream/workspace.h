// The objects of a context that live for one epoch.
#pragma once

#include <memory>

#include "backends/vulkan/device/allocation_table.h"
#include "backends/vulkan/device/staging.h"
#include "base/callback/device_output.h"

namespace km::vulkan {

struct Workspace {
  std::shared_ptr<Epoch> epoch;
  std::shared_ptr<StagingPool> staging;
  std::shared_ptr<Output> output;  // the context's, in all epochs
  std::shared_ptr<AllocationTable> allocations = std::make_shared<AllocationTable>();
};

}  // namespace km::vulkan
