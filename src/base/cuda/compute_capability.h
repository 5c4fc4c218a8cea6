// Compute capabilities as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace km {

/// 89 for 8.9: what CPU devices report, and what CUDA C++ is compiled for, unless KM_CPU_CC says
/// otherwise. With 9.0 programs choose kernels with wgmma and tensor maps, which run, but are made
/// for other hardware than a CPU.
inline constexpr uint32_t kDefaultComputeCapability = 89;

/// 90 for a device of the default one, else what the device has: the newest target of PTX that
/// loads.
constexpr uint32_t newest_target(uint32_t device_capability) {
  return device_capability == kDefaultComputeCapability ? 90 : device_capability;
}

/// 89 for "8.9"; nothing for what is none that a CPU device can report, which are 5.0 to 12.9.
std::optional<uint32_t> parse_device_capability(std::string_view text);

}  // namespace km
