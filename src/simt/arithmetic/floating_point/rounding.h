// Exact results in every rounding mode: with AVX-512's embedded rounding if it exists, otherwise by
// rounding to nearest and correcting by one step in the direction of the exact error.
#pragma once

#include "simt/arithmetic/lanes.h"
#include "simt/machine/rounding.h"

namespace km::simt::arithmetic {

/// The rounding mode of the instruction: .rn, .rz, .rm or .rp; to nearest if it has none.
Round round_of(const ptx::Instruction& instruction);

/// The rounding mode of one of these modifiers.
Round round_of(ptx::Modifier direction);

V rounded_add(Lanes& l, V a, V c, Round round);
V rounded_sub(Lanes& l, V a, V c, Round round);
V rounded_mul(Lanes& l, V a, V c, Round round);
V rounded_fma(Lanes& l, V a, V c, V d, Round round);
V rounded_div(Lanes& l, V a, V c, Round round);
V rounded_sqrt(Lanes& l, V a, Round round);

/// Rounds f64 to f32.
V narrow(Lanes& l, V f64, Round round);
/// Rounds f64 to f32, to odd: the last bit records that bits were lost, so that a second rounding
/// to at most 22 bits gives the result of a single rounding.
V narrow_to_odd(Lanes& l, V f64);
/// The part of a + c that the rounded `sum` lost, if no intermediate result can overflow.
V sum_error_in_range(Lanes& l, V a, V c, V sum);
/// a + c rounded to odd; the result must not overflow.
V add_to_odd(Lanes& l, V a, V c);

}  // namespace km::simt::arithmetic
