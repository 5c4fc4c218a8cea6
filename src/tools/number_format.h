// The 16-bit floating-point formats: IEEE 754 binary16 and bfloat16.
#pragma once

#include <cstdint>

namespace km::tools {

/// Rounds to nearest, ties to even. NaN stays NaN; values that are too large become infinite.
uint16_t half_from_double(double value);
uint16_t bfloat16_from_double(double value);
/// The conversion is exact.
float float_from_half(uint16_t bits);
float float_from_bfloat16(uint16_t bits);

}  // namespace km::tools
