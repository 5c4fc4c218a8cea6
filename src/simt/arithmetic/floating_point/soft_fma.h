// a * c + d of f64 with integer operations, for the rounding modes that have no instruction.
#pragma once

#include "simt/arithmetic/floating_point/rounding.h"

namespace km::simt::arithmetic {

/// Calls a function of the module, generated at its first use, once per lane. Every result is
/// exact.
V soft_fma(Lanes& l, V a, V c, V d, Round round);

}  // namespace km::simt::arithmetic
