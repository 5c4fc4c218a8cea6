#include "simt/arithmetic/floating_point/half.h"

#include <llvm/IR/Intrinsics.h>

#include "simt/arithmetic/floating_point/minmax.h"
#include "simt/machine/instructions.h"

namespace km::simt::arithmetic {
namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Type;
namespace I = llvm::Intrinsic;

V flush_half(Lanes& l, Type type, V half) {
  auto& b = l.b;
  V exponent = b.CreateAnd(half, l.constant(16, type == Type::f16 ? 0x7c00 : 0x7f80));
  V sign = b.CreateAnd(half, l.constant(16, 0x8000));
  return l.select(b.CreateICmpEQ(exponent, l.constant(16, 0)), sign, half);
}

/// Converts f16 to f32 with integer operations and one exact multiplication.
V widen_f16(Lanes& l, V half) {
  auto& b = l.b;
  V word = l.zext(half, 32);
  V magnitude = b.CreateShl(b.CreateAnd(word, l.constant(32, 0x7fff)), l.constant(32, 13));
  V finite = l.bits(b.CreateFMul(l.as_real(magnitude), l.real32(0x1p112f)));
  V special = b.CreateICmpUGE(magnitude, l.constant(32, 0x7c00 << 13));
  V wide = l.select(special, b.CreateOr(magnitude, l.constant(32, 0x7f800000)), finite);
  V sign = b.CreateShl(b.CreateAnd(word, l.constant(32, 0x8000)), l.constant(32, 16));
  return l.as_real(b.CreateOr(wide, sign));
}

/// True if the truncated magnitude must be incremented in this rounding mode.
V directed_up(Lanes& l, V inexact, V negative, Round round) {
  switch (round) {
    case Round::rp:
      return l.both(inexact, l.b.CreateNot(negative));
    case Round::rm:
      return l.both(inexact, negative);
    default:
      return l.b.CreateAnd(inexact, l.constant(1, 0));
  }
}

/// The magnitude of an f16 from that of an f32, with integer operations; the caller handles NaN.
V narrow_f16_magnitude(Lanes& l, V magnitude, V negative, Round round) {
  auto& b = l.b;
  V small = b.CreateICmpULT(magnitude, l.constant(32, 113 << 23));
  V bias = l.constant(32, 112 << 10), infinity = l.constant(32, 0x7c00);
  V number = l.as_real(magnitude);
  if (round == Round::rn) {
    // Adding 0.5 aligns the f32's last place with that of a subnormal f16.
    V subnormal =
        b.CreateSub(l.bits(b.CreateFAdd(number, l.real32(0.5f))), l.constant(32, 126 << 23));
    V odd = b.CreateAnd(b.CreateLShr(magnitude, l.constant(32, 13)), l.constant(32, 1));
    V rounded = b.CreateAdd(b.CreateAdd(magnitude, l.constant(32, 0xfff)), odd);
    V normal = b.CreateSub(b.CreateLShr(rounded, l.constant(32, 13)), bias);
    return l.call(I::umin, l.select(small, subnormal, normal), infinity);
  }
  V scaled = b.CreateFMul(number, l.real32(0x1p24f));
  V whole = l.call(I::trunc, l.select(small, scaled, l.real32(0.0f)));
  V subnormal = b.CreateFPToSI(whole, l.integer(32));
  V cut = b.CreateSub(b.CreateLShr(magnitude, l.constant(32, 13)), bias);
  V lost = b.CreateICmpNE(b.CreateAnd(magnitude, l.constant(32, 0x1fff)), l.constant(32, 0));
  V too_large = b.CreateICmpUGE(magnitude, l.constant(32, 143 << 23));
  V normal = l.select(too_large, l.constant(32, 0x7bff), cut);
  V inexact = l.select(small, b.CreateFCmpONE(whole, scaled), l.any(lost, too_large));
  V truncated = l.select(small, subnormal, normal);
  V up = l.zext(directed_up(l, inexact, negative, round), 32);
  V is_infinite = b.CreateICmpEQ(magnitude, l.constant(32, 0x7f800000));
  return l.select(is_infinite, infinity, b.CreateAdd(truncated, up));
}

V narrow_f16(Lanes& l, V real, Round round) {
  auto& b = l.b;
  const Machine& machine = l.machine();
  const bool converts =
      round == Round::rn ? machine.has_f16_conversions() : machine.has_directed_f16_conversions();
  if (converts) {
    return l.in_chunks(instructions::kNarrowed, {real}, [&](std::span<V const> x) {
      return instructions::narrow_to_f16(b, x[0], round);
    });
  }
  V word = l.bits(real);
  V magnitude = b.CreateAnd(word, l.constant(32, 0x7fffffff));
  V negative = b.CreateICmpSLT(word, l.constant(32, 0));
  V sign = b.CreateLShr(b.CreateAnd(word, l.constant(32, 0x80000000)), l.constant(32, 16));
  return l.zext(b.CreateOr(narrow_f16_magnitude(l, magnitude, negative, round), sign), 16);
}

V narrow_bf16(Lanes& l, V real, Round round) {
  auto& b = l.b;
  V word = l.bits(real), sixteen = l.constant(32, 16);
  V negative = b.CreateICmpSLT(word, l.constant(32, 0)), none = l.constant(32, 0);
  V rest = l.constant(32, 0xffff), carry = none;
  switch (round) {
    case Round::rn:
      carry = b.CreateAdd(l.constant(32, 0x7fff),
                          b.CreateAnd(b.CreateLShr(word, sixteen), l.constant(32, 1)));
      break;
    case Round::rp:
      carry = l.select(negative, none, rest);
      break;
    case Round::rm:
      carry = l.select(negative, rest, none);
      break;
    case Round::rz:
      break;
  }
  return l.zext(b.CreateLShr(b.CreateAdd(word, carry), sixteen), 16);
}

// ---- Instructions. Packed ones run on twice as many lanes.

/// Applies `f(lanes, type, halves)`, which returns halves, to all halves.
template <class F>
Values on_halves(Lanes& l, const Instruction& in, std::span<V const> s, F f) {
  Type type = element_of(in.type());
  bool packed = is_packed_half(in.type());
  Lanes lanes = packed ? l.halves() : l;
  Values halves;
  for (V source : s) {
    V half = packed ? l.split_halves(source) : source;
    halves.push_back(in.has(Modifier::ftz) ? flush_half(lanes, type, half) : half);
  }
  V result = f(lanes, type, halves);
  return {packed ? l.join_halves(result) : result};
}

/// Clamps, rounds and flushes a result that f32 holds exactly or rounded to odd.
V finish(Lanes& l, const Instruction& in, Type type, V real) {
  if (in.has(Modifier::sat)) real = l.saturate(real);
  if (in.has(Modifier::relu)) {
    V zero = l.zero(real);
    real = l.select(l.b.CreateFCmpOLE(real, zero), zero, real);
  }
  V half = f32_to_half(l, type, real, Round::rn);
  return in.has(Modifier::ftz) ? flush_half(l, type, half) : half;
}

Values add_sub(Lanes& l, const Instruction& in, std::span<V const> s) {
  return on_halves(l, in, s, [&](Lanes& e, Type type, std::span<V const> x) {
    // f32 has 24 bits, which is twice the 11 of a half plus two, so rounding twice equals rounding
    // once.
    V a = half_to_f32(e, type, x[0]), c = half_to_f32(e, type, x[1]);
    V sum = in.opcode == Opcode::sub ? e.b.CreateFSub(a, c) : e.b.CreateFAdd(a, c);
    return finish(e, in, type, sum);
  });
}

Values mul(Lanes& l, const Instruction& in, std::span<V const> s) {
  return on_halves(l, in, s, [&](Lanes& e, Type type, std::span<V const> x) {
    V a = half_to_f32(e, type, x[0]), c = half_to_f32(e, type, x[1]);
    if (type == Type::f16) return finish(e, in, type, e.b.CreateFMul(a, c));  // exact
    V product = e.b.CreateFMul(e.to_f64(a), e.to_f64(c));  // f32 would lose bits of small products
    return finish(e, in, type, narrow_to_odd(e, product));
  });
}

V fused(Lanes& e, const Instruction& in, Type type, std::span<V const> x) {
  V a = half_to_f32(e, type, x[0]), c = half_to_f32(e, type, x[1]), d = half_to_f32(e, type, x[2]);
  if (type == Type::f16) return finish(e, in, type, add_to_odd(e, e.b.CreateFMul(a, c), d));
  V product = e.b.CreateFMul(e.to_f64(a), e.to_f64(c));
  return finish(e, in, type, narrow_to_odd(e, add_to_odd(e, product, e.to_f64(d))));
}

Values fma(Lanes& l, const Instruction& in, std::span<V const> s) {
  return on_halves(l, in, s, [&](Lanes& e, Type type, std::span<V const> x) {
    V result = fused(e, in, type, x);
    if (!in.has(Modifier::oob)) return result;
    // Tensor copies fill elements out of bounds with this NaN; a product with it contributes
    // nothing.
    V outside = e.constant(16, 0xffff);
    V any = e.b.CreateOr(e.b.CreateICmpEQ(x[0], outside), e.b.CreateICmpEQ(x[1], outside));
    return e.select(any, e.constant(16, 0), result);
  });
}

Values min_max(Lanes& l, const Instruction& in, std::span<V const> s) {
  return on_halves(l, in, s, [&](Lanes& e, Type type, std::span<V const> x) {
    bool maximum = in.opcode == Opcode::max, propagate = in.has(Modifier::NaN);
    V a = half_to_f32(e, type, x[0]), c = half_to_f32(e, type, x[1]);
    auto build = in.has(Modifier::xorsign) ? xorsign_min_max : real_min_max;
    return f32_to_half(e, type, build(e, maximum, propagate, a, c), Round::rz);  // exact
  });
}

/// `result`, or the canonical NaN if the half is NaN: GPUs keep no payload here.
V unless_nan(Lanes& e, Type type, V half, V result) {
  V magnitude = e.b.CreateAnd(half, e.constant(16, 0x7fff));
  V infinity = e.constant(16, type == Type::f16 ? 0x7c00 : 0x7f80);
  return e.select(e.b.CreateICmpUGT(magnitude, infinity), e.constant(16, kNan16), result);
}

Values absolute(Lanes& l, const Instruction& in, std::span<V const> s) {
  return on_halves(l, in, s, [&](Lanes& e, Type type, std::span<V const> x) {
    return unless_nan(e, type, x[0], e.b.CreateAnd(x[0], e.constant(16, 0x7fff)));
  });
}

Values negate(Lanes& l, const Instruction& in, std::span<V const> s) {
  return on_halves(l, in, s, [&](Lanes& e, Type type, std::span<V const> x) {
    return unless_nan(e, type, x[0], e.b.CreateXor(x[0], e.constant(16, 0x8000)));
  });
}

}  // namespace

V half_to_f32(Lanes& l, Type type, V half, bool ftz) {
  if (ftz) half = flush_half(l, type, half);
  if (type == Type::bf16) return l.as_real(l.b.CreateShl(l.zext(half, 32), l.constant(32, 16)));
  if (!l.machine().has_f16_conversions()) return widen_f16(l, half);
  return l.b.CreateFPExt(l.b.CreateBitCast(half, l.all(l.b.getHalfTy())), l.f32());
}

V f32_to_half(Lanes& l, Type type, V real, Round round) {
  V half = type == Type::f16 ? narrow_f16(l, real, round) : narrow_bf16(l, real, round);
  return l.select(l.is_nan(real), l.constant(16, kNan16), half);
}

Handler find_half(const Instruction& in) {
  bool known = in.type_count == 1 && (is_half(in.type()) || is_packed_half(in.type()));
  if (!known) return nullptr;
  switch (in.opcode) {
    case Opcode::add:
    case Opcode::sub:
      return add_sub;
    case Opcode::mul:
      return mul;
    case Opcode::fma:
      return fma;
    case Opcode::min:
    case Opcode::max:
      return min_max;
    case Opcode::abs:
      return absolute;
    case Opcode::neg:
      return negate;
    default:
      return nullptr;
  }
}

}  // namespace km::simt::arithmetic
