// f16 and bf16, which live in registers as their bits. LLVM's own half and bfloat are never used:
// they round twice or flush (measured with 19.1.7).
#pragma once

#include "simt/arithmetic/floating_point/rounding.h"
#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {

inline bool is_half(ptx::Type type) { return type == ptx::Type::f16 || type == ptx::Type::bf16; }
inline bool is_packed_half(ptx::Type type) {
  return type == ptx::Type::f16x2 || type == ptx::Type::bf16x2;
}
/// f16 of f16x2, bf16 of bf16x2; other types are their own elements.
inline ptx::Type element_of(ptx::Type type) {
  if (type == ptx::Type::f16x2) return ptx::Type::f16;
  return type == ptx::Type::bf16x2 ? ptx::Type::bf16 : type;
}

/// The number in f32; `ftz` makes subnormal halves zeros of their sign.
V half_to_f32(Lanes& l, ptx::Type type, V half, bool ftz = false);

/// f32 rounded once to a half, NaN made canonical. An argument rounded to odd gives the same result
/// as the number that it came from.
V f32_to_half(Lanes& l, ptx::Type type, V real, Round round);

}  // namespace km::simt::arithmetic
