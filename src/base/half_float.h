// Conversions of single f16 and bf16 values: to f32 exactly, and back with rounding to nearest,
// ties to even.
#pragma once

#include <bit>
#include <cstdint>

namespace km {

inline float float_of_bfloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

inline float float_of_half(uint16_t bits) {
  constexpr uint32_t kInfinity = 0x7c00U << 13;
  const uint32_t magnitude = (bits & 0x7fffU) << 13, sign = (bits & 0x8000U) << 16;
  // The multiplication changes the exponent's bias by 112, for subnormals too.
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112F;
  uint32_t result = std::bit_cast<uint32_t>(scaled);
  if (magnitude >= kInfinity) {
    result = magnitude | 0x7f800000U | (magnitude > kInfinity ? 0x400000U : 0U);
  }
  return std::bit_cast<float>(result | sign);
}

inline uint16_t bfloat_of_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>(bits >> 16 | 0x40U);
  return static_cast<uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

inline uint16_t half_of_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  const uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U)
    return static_cast<uint16_t>(sign | 0x7e00U | (magnitude >> 13 & 0x3ffU));
  if (magnitude >= 0x477ff000U) return sign | 0x7c00U;  // rounds to infinity
  if (magnitude < 0x38800000U) {
    // For a subnormal result, the addition shifts and rounds the bits into the lowest places.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000U));
  }
  const uint32_t rounded = magnitude - 0x38000000U + 0xfffU + (magnitude >> 13 & 1U);
  return static_cast<uint16_t>(sign | rounded >> 13);
}

}  // namespace km
