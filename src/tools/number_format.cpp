#include "tools/number_format.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace km::tools {
namespace {

/// A 16-bit format with a sign, an exponent and a fraction.
struct Format {
  int fraction_bits, bias;
};
constexpr Format kHalf{10, 15}, kBfloat16{7, 127};

uint16_t encode(double value, const Format& format) {
  const auto infinity = static_cast<uint16_t>((2 * format.bias + 1) << format.fraction_bits);
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) {
    return static_cast<uint16_t>(sign | infinity | 1 << (format.fraction_bits - 1));
  }
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | infinity;
  // The weight of the fraction's last bit; subnormal numbers have the minimum.
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int least = 1 - format.bias;
  const int last = std::max(exponent - 1, least) - format.fraction_bits;
  const double scaled = std::nearbyint(std::ldexp(magnitude, -last));  // the only inexact step
  // A fraction rounded up to a power of two carries into the exponent, which is correct.
  const auto digits = static_cast<uint64_t>(scaled);
  const int biased = std::max(exponent - 1, least) + format.bias - 1;
  const uint64_t bits = (static_cast<uint64_t>(biased) << format.fraction_bits) + digits;
  return sign | static_cast<uint16_t>(std::min<uint64_t>(bits, infinity));
}

}  // namespace

uint16_t half_from_double(double value) { return encode(value, kHalf); }
uint16_t bfloat16_from_double(double value) { return encode(value, kBfloat16); }

float float_from_half(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  float magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

float float_from_bfloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

}  // namespace km::tools
