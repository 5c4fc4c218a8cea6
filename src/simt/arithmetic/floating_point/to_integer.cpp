#include "simt/arithmetic/floating_point/to_integer.h"

#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "simt/machine/instructions.h"

namespace km::simt::arithmetic {
namespace {

namespace I = llvm::Intrinsic;

V mask(Lanes& l, V condition) { return l.sext(condition, 32); }

V f32_to_s32(Lanes& l, V real, Round round) {
  if (l.machine().has_saturating_conversions()) return f32_to_int(l, real, round);
  auto& b = l.b;
  V rounded = f32_to_int(l, real, round);
  // The conversion gives 0x80000000, which is right below the range. Above the range its complement
  // is right, and for NaN zero.
  V above = b.CreateFCmpOGE(real, l.real32(0x1p31f));
  V ordered = b.CreateFCmpORD(real, real);
  if (l.machine().has_mask_registers()) {
    V number = l.select(ordered, rounded, l.zero(rounded));
    return l.select(above, l.constant(32, 0x7fffffff), number);
  }
  return b.CreateAnd(b.CreateXor(rounded, mask(l, above)), mask(l, ordered));
}

V f32_to_u32(Lanes& l, V real, Round round) {
  auto& b = l.b;
  if (l.machine().has_saturating_conversions()) {
    return l.in_chunks(l.machine().elements_of(32), {real}, [&](std::span<V const> x) {
      return instructions::saturated_to_u32(b, x[0], round);
    });
  }
  V positive = l.select(b.CreateFCmpOGT(real, l.real32(0.0f)), real, l.real32(0.0f));
  if (l.machine().has_unsigned_conversions()) {
    return l.in_chunks(l.machine().elements_of(32), {positive}, [&](std::span<V const> x) {
      return instructions::rounded_to_u32(b, x[0], round);
    });
  }
  V low = f32_to_int(l, positive, round);
  V high = f32_to_int(l, b.CreateFSub(positive, l.real32(0x1p31f)), round);
  V large = b.CreateAShr(low, l.constant(32, 31));
  V above = b.CreateFCmpOGE(positive, l.real32(0x1p32f));
  return b.CreateOr(b.CreateOr(low, b.CreateAnd(high, large)), mask(l, above));
}

V clamp(Lanes& l, V real, double least, double most) {
  auto& b = l.b;
  V low = l.real(real, least), high = l.real(real, most);
  V raised = l.select(b.CreateFCmpOGT(real, low), real, low);  // NaN becomes `least`
  return l.select(b.CreateFCmpOLT(raised, high), raised, high);
}

double least_of(const IntegerTarget& t) {
  return t.is_signed ? -std::ldexp(1.0, static_cast<int>(t.bits) - 1) : 0.0;
}
double beyond(const IntegerTarget& t) {
  return std::ldexp(1.0, static_cast<int>(t.bits) - (t.is_signed ? 1 : 0));
}

V f32_to_small(Lanes& l, V real, const IntegerTarget& t, Round round) {
  V rounded = f32_to_int(l, clamp(l, real, least_of(t), beyond(t) - 1), round);
  V kept = l.b.CreateAnd(rounded, mask(l, l.b.CreateFCmpORD(real, real)));
  return l.zext(kept, t.bits);
}

/// The result for NaN: zero for narrow targets of narrow sources, otherwise only the highest bit.
V nan_result(Lanes& l, const IntegerTarget& t) {
  bool zero = !t.from_f64 && t.bits < 64;
  return l.constant(t.bits, zero ? 0 : uint64_t{1} << (t.bits - 1));
}

V f64_to_narrow(Lanes& l, V real, const IntegerTarget& t) {
  auto& b = l.b;
  V clamped = clamp(l, real, least_of(t), beyond(t) - 1);
  // The low bits of the sum's fraction are the integer in two's complement.
  V low = l.zext(l.bits(b.CreateFAdd(clamped, l.real64(0x1.8p52))), t.bits);
  return l.select(l.is_nan(real), nan_result(l, t), low);
}

/// Two 32-bit digits, each extracted from the fraction of a sum.
V f64_to_wide(Lanes& l, V real, const IntegerTarget& t) {
  auto& b = l.b;
  V high = l.call(I::floor, b.CreateFMul(real, l.real64(0x1p-32)));
  V low = b.CreateFSub(real, b.CreateFMul(high, l.real64(0x1p32)));
  V high_bits = l.bits(b.CreateFAdd(high, l.real64(0x1.8p52)));
  V low_bits = l.bits(b.CreateFAdd(low, l.real64(0x1p52)));
  V digits = b.CreateOr(b.CreateShl(high_bits, l.constant(64, 32)),
                        b.CreateAnd(low_bits, l.constant(64, 0xffffffff)));
  uint64_t least = t.is_signed ? uint64_t{1} << 63 : 0;
  V below = b.CreateFCmpOLT(real, l.real64(least_of(t)));
  V above = b.CreateFCmpOGE(real, l.real64(beyond(t)));
  digits = l.select(below, l.constant(64, least), digits);
  digits = l.select(above, l.constant(64, ~least), digits);
  return l.select(l.is_nan(real), nan_result(l, t), digits);
}

}  // namespace

V to_integral(Lanes& l, V real, Round round) {
  switch (round) {
    case Round::rn:
      return l.call(I::roundeven, real);
    case Round::rm:
      return l.call(I::floor, real);
    case Round::rp:
      return l.call(I::ceil, real);
    case Round::rz:
      break;
  }
  return l.call(I::trunc, real);
}

V f32_to_int(Lanes& l, V real, Round round) {
  const unsigned words = l.machine().elements_of(32);
  if (l.machine().has_saturating_conversions()) {
    return l.in_chunks(words, {real}, [&](std::span<V const> x) {
      return instructions::saturated_to_s32(l.b, x[0], round);
    });
  }
  if (l.count() >= words && l.machine().has_embedded_rounding()) {
    return l.in_chunks(words, {real}, [&](std::span<V const> x) {
      return instructions::rounded_to_s32(l.b, x[0], round);
    });
  }
  const bool nearest = round == Round::rn;
  if (!nearest && round != Round::rz) real = to_integral(l, real, round);
  return l.in_chunks(l.count() >= 8 && words >= 8 ? 8 : 4, {real}, [&](std::span<V const> x) {
    return instructions::to_s32(l.b, x[0], nearest);
  });
}

V to_integer(Lanes& l, V real, const IntegerTarget& target, Round round) {
  if (Lanes::is_f32(real) && target.bits <= 32) {
    if (target.bits < 32) return f32_to_small(l, real, target, round);
    return target.is_signed ? f32_to_s32(l, real, round) : f32_to_u32(l, real, round);
  }
  V integral = to_integral(l, real, round);
  V wide = Lanes::is_f64(real) ? integral : l.to_f64(integral);
  return target.bits == 64 ? f64_to_wide(l, wide, target) : f64_to_narrow(l, wide, target);
}

}  // namespace km::simt::arithmetic
