// The words for what went wrong in a launch.
#pragma once

#include "backends/vulkan/module/module.h"

namespace km::vulkan {

/// The error of a launch whose fault record is set.
Error describe_fault(const Function& function, const spirv::FaultRecord& record);

/// Text in the context's memory, up to `most_bytes`; nothing if it lies outside of it, or where the
/// host reads nothing.
std::optional<std::string> read_device_text(Epoch& epoch, uint64_t address, uint64_t most_bytes);

}  // namespace km::vulkan
