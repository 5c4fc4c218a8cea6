// Numbers of 4 and 6 bits as e4m3, which holds all of them.
#pragma once

#include <array>
#include <cstdint>

namespace km::simt {

/// The e4m3 code of a number with a sign, `exponent_bits` and `fraction_bits`, and no infinities.
constexpr uint8_t widen_code(uint32_t code, uint32_t exponent_bits, uint32_t fraction_bits) {
  const uint32_t sign = code >> (exponent_bits + fraction_bits) & 1;
  const int32_t bias = (1 << (exponent_bits - 1)) - 1;
  int32_t exponent = static_cast<int32_t>(code >> fraction_bits & ((1u << exponent_bits) - 1));
  uint32_t fraction = code & ((1u << fraction_bits) - 1);
  if (exponent == 0) {
    if (fraction == 0) return static_cast<uint8_t>(sign << 7);
    exponent = 1;
    while ((fraction >> fraction_bits) == 0) {
      fraction <<= 1;
      --exponent;
    }
    fraction &= (1u << fraction_bits) - 1;
  }
  const auto field = static_cast<uint32_t>(exponent - bias + 7);
  return static_cast<uint8_t>(sign << 7 | field << 3 | fraction << (3 - fraction_bits));
}

template <uint32_t kExponentBits, uint32_t kFractionBits>
constexpr auto kWidenedCodes = [] {
  std::array<uint8_t, 2 << (kExponentBits + kFractionBits)> codes{};
  for (uint32_t i = 0; i < codes.size(); ++i) {
    codes[i] = widen_code(i, kExponentBits, kFractionBits);
  }
  return codes;
}();

}  // namespace km::simt
