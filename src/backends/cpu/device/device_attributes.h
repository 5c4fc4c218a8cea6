// CUDA's device attributes of CPU devices.
#pragma once

#include <cstdint>
#include <optional>

namespace km::cpu {

class Device;

/// The value of the attribute with this number in CUDA; nothing if CUDA has no such attribute.
std::optional<int64_t> cuda_attribute(const Device& device, int32_t number);

}  // namespace km::cpu
