// Integer helpers: rounding up, and saturation to 32 bits.
#pragma once

#include <algorithm>
#include <cstdint>

namespace km {

/// The smallest multiple of `unit` that is at least `value`. Overflows wrap around.
constexpr uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// The value, or UINT32_MAX if it does not fit.
constexpr uint32_t saturate_u32(uint64_t value) {
  return static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX));
}

}  // namespace km
