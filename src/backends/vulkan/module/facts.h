// The facts of a device that generated code builds on; small kernels find some of them out.
#pragma once

#include "backends/vulkan/driver/adapter.h"
#include "spirv/spirv.h"

namespace km::vulkan {

/// The facts of a device, which the first call finds out. They last as long as the process.
Result<const spirv::DeviceFacts*> device_facts(const Adapter& adapter);

/// The facts that the driver tells. What only a trial shows is the least.
spirv::DeviceFacts told_facts(const Adapter& adapter);

}  // namespace km::vulkan
