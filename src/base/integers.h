// Sizes in whole units, and counts that must fit into 32 bits.
#pragma once

#include <algorithm>
#include <cstdint>

namespace km {

/// The least multiple of `unit` that is not below the value.
constexpr uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// The value, or the largest of 32 bits if it does not fit.
constexpr uint32_t saturate_u32(uint64_t value) {
  return static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX));
}

}  // namespace km
