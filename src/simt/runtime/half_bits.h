// Converts floats to halves without the F16C instruction.
#pragma once

#include <bit>
#include <cstdint>

namespace km::simt {

/// The bits of the nearest half; ties go to even, NaNs become 7fff.
inline uint16_t half_of(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  if (rest > 0x7f800000) return 0x7fff;
  if (rest >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);
  if (rest < 0x38800000) {  // subnormal: the addition rounds to nearest even
    const float shifted = std::bit_cast<float>(rest) + 0.5F;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  const uint32_t odd = rest >> 13 & 1;
  return static_cast<uint16_t>(sign | ((rest - 0x38000000 + 0xfff + odd) >> 13));
}

}  // namespace km::simt
