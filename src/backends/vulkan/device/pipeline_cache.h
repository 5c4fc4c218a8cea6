// The driver's compiled pipelines, kept on disk between processes: in the project's cache, by
// device, driver and its version.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/vulkan/driver/adapter.h"

namespace km::vulkan {

/// Reads the pipelines that an earlier process has kept for the adapter; nothing without a cache. A
/// driver ignores those that another driver or version has made.
std::vector<uint8_t> kept_pipelines(const Adapter& adapter);

/// Keeps the content of a driver's cache if it has more than the `kept_bytes` that were read from
/// disk.
void keep_pipelines(const Adapter& adapter, const DeviceFunctions& vk, VkDevice device,
                    VkPipelineCache cache, uint64_t kept_bytes);

}  // namespace km::vulkan
