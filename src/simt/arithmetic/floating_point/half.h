// f16 and bf16, which registers hold as their bits. LLVM's own half and bfloat are never used: they
// round twice or flush (measured with 19.1.7).
#pragma once

#include "simt/arithmetic/floating_point/rounding.h"
#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {

inline bool is_half(ptx::Type type) { return type == ptx::Type::f16 || type == ptx::Type::bf16; }
inline bool is_packed_half(ptx::Type type) {
  return type == ptx::Type::f16x2 || type == ptx::Type::bf16x2;
}
/// f16 for f16x2 and bf16 for bf16x2; other types are their own elements.
inline ptx::Type element_of(ptx::Type type) {
  if (type == ptx::Type::f16x2) return ptx::Type::f16;
  return type == ptx::Type::bf16x2 ? ptx::Type::bf16 : type;
}

/// Converts a half to f32; `ftz` replaces subnormal halves by zeros of their sign.
V half_to_f32(Lanes& l, ptx::Type type, V half, bool ftz = false);

/// Rounds f32 once to a half and makes NaN canonical. An argument that was rounded to odd gives the
/// same result as the original number.
V f32_to_half(Lanes& l, ptx::Type type, V real, Round round);

}  // namespace km::simt::arithmetic
