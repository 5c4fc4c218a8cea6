// The answers of a device to CUDA's questions.
#pragma once

#include <cstdint>
#include <optional>

namespace km::cpu {

class Device;

/// The value of CUDA's device attribute of this number; nothing for numbers that CUDA does not
/// have.
std::optional<int64_t> cuda_attribute(const Device& device, int32_t number);

}  // namespace km::cpu
