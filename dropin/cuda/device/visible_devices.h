// Devices that a program sees, and their order, by CUDA_VISIBLE_DEVICES.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace km::dropin {

/// The 16 bytes of a device's UUID; the last byte is 0.
std::string uuid_of(uint32_t index);

/// A UUID as nvidia-smi writes it: "GPU-6b65726e-656c-6d69-6c6c-2d3030303000".
std::string uuid_text(uint32_t index);

/// Indices of devices in the order in which the program sees them. `list` has indices and prefixes
/// of UUIDs, separated by commas; the first entry that names no device, or a device for the second
/// time, ends it. Without a list all `count` devices are visible.
std::vector<uint32_t> visible_devices(const std::optional<std::string>& list, uint32_t count);

}  // namespace km::dropin
