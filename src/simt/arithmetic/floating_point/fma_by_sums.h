// a * c + d of f64 with sums and products of f64, for machines without an instruction.
#pragma once

#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {

/// The exact result, rounded to nearest, in a straight line of code for all lanes; the wide
/// integers of soft_fma() keep the compilers of shaders busy for many times as long.
V fma_by_sums(Lanes& l, V a, V c, V d);

}  // namespace km::simt::arithmetic
