// Compute capabilities in the notation of people ("8.9").
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace km {

/// The capability that CPU devices report and CUDA C++ is compiled for (8.9), unless KM_CPU_CC
/// overrides it. With 9.0, programs select kernels with wgmma and tensor maps, which run but suit
/// other hardware than a CPU.
inline constexpr uint32_t kDefaultComputeCapability = 89;

/// The newest PTX target that loads on a device: 90 on a device of the default capability,
/// otherwise the device's own.
constexpr uint32_t newest_target(uint32_t device_capability) {
  return device_capability == kDefaultComputeCapability ? 90 : device_capability;
}

/// 89 for "8.9"; nothing for a text that is not a capability from 5.0 to 12.9, the range of CPU
/// devices.
std::optional<uint32_t> parse_device_capability(std::string_view text);

}  // namespace km
