// Converts floating point to integers with PTX's saturation. LLVM's fptosi is not used, because its
// result is undefined outside of the range.
#pragma once

#include "simt/arithmetic/floating_point/rounding.h"
#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {

struct IntegerTarget {
  unsigned bits = 32;
  bool is_signed = true;
  bool from_f64 = false;  // the source type is f64, which affects the result for NaN
};

/// Rounds to an integral value of the same type.
V to_integral(Lanes& l, V real, Round round);

/// Converts f32 to a signed 32-bit integer like SSE and AVX: 0x80000000 for NaN and values out of
/// range.
V f32_to_int(Lanes& l, V real, Round round);

/// Converts `real`, which is f32 or f64.
V to_integer(Lanes& l, V real, const IntegerTarget& target, Round round);

}  // namespace km::simt::arithmetic
