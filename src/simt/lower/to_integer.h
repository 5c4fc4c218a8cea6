// Floating point to integers, saturating as PTX does and without LLVM's fptosi, whose result out of
// range is undefined.
#pragma once

#include "simt/lower/lanes.h"

namespace km::simt::lower {

struct IntegerTarget {
  unsigned bits = 32;
  bool is_signed = true;
  bool from_f64 = false;  // the instruction's source type, which decides what NaN gives
};

/// `real` is f32 or f64 and integral already; an f32 to at most 32 bits need not be: it is
/// truncated.
V to_integer(Lanes& l, V real, const IntegerTarget& target);

}  // namespace km::simt::lower
