// What generated code may assume of a device, for which small kernels are run on it once.
#pragma once

#include "backends/vulkan/driver/adapter.h"
#include "spirv/spirv.h"

namespace km::vulkan {

/// The facts of a device, which the first call finds out. They last as long as the process.
Result<const spirv::DeviceFacts*> device_facts(const Adapter& adapter);

/// The facts that the driver tells. What only a trial shows is the least.
spirv::DeviceFacts told_facts(const Adapter& adapter);

}  // namespace km::vulkan
