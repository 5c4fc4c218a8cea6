// Compute capabilities as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace km {

/// 89 for 8.9: what CPU devices report, and what CUDA C++ is compiled for, unless KM_CPU_CC says
/// otherwise. It is the highest whose instructions are all there: 9.0 would have programs choose
/// kernels with wgmma and tensor maps.
inline constexpr uint32_t kDefaultComputeCapability = 89;

/// 89 for "8.9"; nothing for what is none that a CPU device can report, which are 5.0 to 12.9.
std::optional<uint32_t> parse_device_capability(std::string_view text);

}  // namespace km
