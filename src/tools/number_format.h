// Numbers of 16 bits: IEEE 754 binary16 and bfloat16.
#pragma once

#include <cstdint>

namespace km::tools {

/// Rounds to nearest, ties to even; NaN stays NaN, what is too large becomes infinite.
uint16_t half_from_double(double value);
uint16_t bfloat16_from_double(double value);
/// Exact.
float float_from_half(uint16_t bits);
float float_from_bfloat16(uint16_t bits);

}  // namespace km::tools
