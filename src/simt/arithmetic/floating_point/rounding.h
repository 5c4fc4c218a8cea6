// Exact results in every rounding mode: by AVX-512's embedded rounding where it exists, else by
// rounding to nearest and stepping once in the direction of the exact error.
#pragma once

#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {

/// Values are those of the x86 rounding control.
enum class Round : uint8_t { rn = 0, rm = 1, rp = 2, rz = 3 };

/// .rn, .rz, .rm or .rp of the instruction; to nearest where none is written.
Round round_of(const ptx::Instruction& instruction);

/// The rounding that one of these modifiers names.
Round round_of(ptx::Modifier direction);

V rounded_add(Lanes& l, V a, V c, Round round);
V rounded_sub(Lanes& l, V a, V c, Round round);
V rounded_mul(Lanes& l, V a, V c, Round round);
V rounded_fma(Lanes& l, V a, V c, V d, Round round);
V rounded_div(Lanes& l, V a, V c, Round round);
V rounded_sqrt(Lanes& l, V a, Round round);

/// f64 to f32.
V narrow(Lanes& l, V f64, Round round);
/// f64 to f32, rounded to odd: the last bit says that something was lost, so that rounding again to
/// at most 22 bits gives what rounding once would have given.
V narrow_to_odd(Lanes& l, V f64);
/// a + c rounded to odd, for results that do not overflow.
V add_to_odd(Lanes& l, V a, V c);

/// a * c + d where the machine has no instruction for it.
V emulated_fma(const Lanes& l, V a, V c, V d);

}  // namespace km::simt::arithmetic
