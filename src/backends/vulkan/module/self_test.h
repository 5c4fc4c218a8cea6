// The trial of a device's arithmetic.
#pragma once

#include "backends/vulkan/driver/adapter.h"
#include "spirv/spirv.h"

namespace km::vulkan {

/// Runs each operation on the device with the instructions of its own, and notes which give the
/// host's bits. A device that cannot run an operation counts as inexact.
Result<spirv::DeviceFacts> try_arithmetic(const Adapter& adapter, const spirv::DeviceFacts& told);

}  // namespace km::vulkan
