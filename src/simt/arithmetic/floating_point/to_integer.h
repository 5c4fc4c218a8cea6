// Floating point to integers, saturating as PTX does and without LLVM's fptosi, whose result out of
// range is undefined.
#pragma once

#include "simt/arithmetic/floating_point/rounding.h"
#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {

struct IntegerTarget {
  unsigned bits = 32;
  bool is_signed = true;
  bool from_f64 = false;  // the instruction's source type, which decides what NaN gives
};

/// To an integral value of the same type.
V to_integral(Lanes& l, V real, Round round);

/// An f32 to 32 bits with a sign as SSE and AVX convert: 0x80000000 for NaN and what does not fit.
V f32_to_int(Lanes& l, V real, Round round);

/// `real` is f32 or f64.
V to_integer(Lanes& l, V real, const IntegerTarget& target, Round round);

}  // namespace km::simt::arithmetic
