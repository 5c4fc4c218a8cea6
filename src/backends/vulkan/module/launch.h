// Launches of kernels.
#pragma once

#include <vector>

#include "backends/vulkan/module/module.h"
#include "backends/vulkan/stream/stream.h"

namespace km::vulkan {

/// The error of a launch that the device or the kernel cannot have.
Status check_launch(const Function& function, const kmb_launch& launch);

/// The steps of a launch: one for each part of the grid that the device gets at a time.
Result<std::vector<Step>> launch_steps(Stream& stream, Function& function,
                                       const kmb_launch& launch);

}  // namespace km::vulkan
