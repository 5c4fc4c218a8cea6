// CUDA's device attributes of Vulkan devices.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/vulkan/driver/adapter.h"

namespace km::vulkan {

/// The value of the attribute with this number in CUDA; nothing if CUDA has no such attribute.
/// Vulkan does not tell most of them: those are 0.
std::optional<int64_t> cuda_attribute(const Adapter& adapter, int32_t number);

/// The compute capability that kernels are compiled for: 8.9.
constexpr uint32_t kCapabilityMajor = 8, kCapabilityMinor = 9;
constexpr uint32_t kWarpSize = 32;
/// Grids are cut into dispatches, so their limits are CUDA's.
constexpr uint32_t kMaxGridDim[3] = {2147483647, 65535, 65535};

/// The largest block along an axis.
uint32_t max_block_dim(const Adapter& adapter, uint32_t axis);

}  // namespace km::vulkan
