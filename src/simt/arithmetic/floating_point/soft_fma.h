// a * c + d of f64 in integers, for rounding modes and machines that have no instruction for it.
#pragma once

#include "simt/arithmetic/floating_point/rounding.h"

namespace km::simt::arithmetic {

/// Calls a function of the module, made on first use, once per lane. Exact in every case.
V soft_fma(Lanes& l, V a, V c, V d, Round round);

}  // namespace km::simt::arithmetic
