// Numbers of 8 bits: e4m3 and e5m2 of the OCP. Conversions from f32 round to nearest, ties to even,
// and saturate to the largest finite number, as CUDA's do.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace km::comm {

/// A format with 7 - kMantissaBits bits of exponent; kMostCode is its largest finite number.
template <int kMantissaBits, uint8_t kMostCode>
struct NarrowFloat {
  static constexpr int kBias = (1 << (6 - kMantissaBits)) - 1;

  static constexpr uint8_t encode(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint8_t>(bits >> 24 & 0x80U);
    const uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return sign | 0x7fU;
    constexpr uint32_t kLeastNormal = static_cast<uint32_t>(127 + 1 - kBias) << 23;
    if (magnitude < kLeastNormal) {
      // The addition shifts and rounds the bits into the lowest places.
      constexpr uint32_t kShift = static_cast<uint32_t>(127 + 23 - kMantissaBits + 1 - kBias) << 23;
      const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kShift);
      return static_cast<uint8_t>(sign | (std::bit_cast<uint32_t>(shifted) - kShift));
    }
    constexpr int kDropped = 23 - kMantissaBits;
    const uint32_t rounded = magnitude + (1U << (kDropped - 1)) - 1 + (magnitude >> kDropped & 1U);
    const uint32_t code =
        (rounded >> kDropped) - (static_cast<uint32_t>(127 - kBias) << kMantissaBits);
    return static_cast<uint8_t>(sign | (code > kMostCode ? kMostCode : code));
  }

  static constexpr float decode(uint8_t code) {
    const uint32_t sign = (code & 0x80U) << 24, magnitude = code & 0x7fU;
    if (magnitude > kMostCode) {
      const bool is_infinite = kMantissaBits == 2 && magnitude == 0x7cU;
      return std::bit_cast<float>(sign | (is_infinite ? 0x7f800000U : 0x7fc00000U));
    }
    // The multiplication changes the exponent's bias, for subnormals too.
    const float scaled = std::bit_cast<float>(magnitude << (23 - kMantissaBits)) *
                         std::bit_cast<float>(static_cast<uint32_t>(254 - kBias) << 23);
    return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
  }

  static constexpr std::array<float, 256> make_table() {
    std::array<float, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) table[i] = decode(static_cast<uint8_t>(i));
    return table;
  }
  static constexpr std::array<float, 256> kTable = make_table();
};
using E4m3 = NarrowFloat<3, 0x7e>;
using E5m2 = NarrowFloat<2, 0x7b>;

}  // namespace km::comm
