// Which devices CUDA_VISIBLE_DEVICES leaves to a program, and in which order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace km::dropin {

/// The 16 bytes of a device's UUID; the last is 0.
std::string uuid_of(uint32_t index);

/// "GPU-6b65726e-656c-6d69-6c6c-2d3030303000", as nvidia-smi writes it.
std::string uuid_text(uint32_t index);

/// Indices of devices in the order in which the program sees them. `list`: indices and beginnings
/// of UUIDs, with commas between them; what follows the first that names no device, or one that was
/// named before, does not count. No list: all of `count`.
std::vector<uint32_t> visible_devices(const std::optional<std::string>& list, uint32_t count);

}  // namespace km::dropin
