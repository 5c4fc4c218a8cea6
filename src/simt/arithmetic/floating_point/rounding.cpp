#include "simt/arithmetic/floating_point/rounding.h"

#include <llvm/IR/Intrinsics.h>

#include <bit>

#include "simt/arithmetic/floating_point/fma_by_sums.h"
#include "simt/arithmetic/floating_point/soft_fma.h"
#include "simt/machine/instructions.h"

namespace km::simt::arithmetic {
namespace {

namespace I = llvm::Intrinsic;

/// The side of the nearest number on which the exact result lies.
struct Side {
  V above;  // exact > nearest
  V below;
};

/// The sign as 0 or -1.
V sign_mask(Lanes& l, V word) {
  return l.b.CreateAShr(word, l.constant_like(word, Lanes::width(word) - 1));
}

/// Moves `nearest` by one unit in the last place if `round` requires the other neighbour.
V step(Lanes& l, V nearest, const Side& side, Round round) {
  auto& b = l.b;
  V word = l.bits(nearest), one = l.constant_like(word, 1), none = l.zero(word);
  V away = b.CreateOr(sign_mask(l, word), one);  // +1 for positive numbers, -1 for negative ones
  switch (round) {
    case Round::rp:
      return l.as_real(b.CreateAdd(word, l.select(side.above, away, none)));
    case Round::rm:
      return l.as_real(b.CreateSub(word, l.select(side.below, away, none)));
    case Round::rz: {
      V negative = b.CreateICmpSLT(word, none);
      V too_large = l.select(negative, side.above, side.below);
      return l.as_real(b.CreateSub(word, l.select(too_large, one, none)));
    }
    case Round::rn:
      break;
  }
  return nearest;
}

/// Like step(), with the sign of the error, exact - nearest.
V step_by_error(Lanes& l, V nearest, V error, Round round) {
  V zero = l.zero(error);
  return step(l, nearest, {l.b.CreateFCmpOGT(error, zero), l.b.CreateFCmpOLT(error, zero)}, round);
}

/// When rounding toward minus infinity, a sum that is zero is negative unless both addends are +0.
V zero_sum_sign(Lanes& l, V sum, V a, V c, Round round) {
  if (round != Round::rm) return sum;
  auto& b = l.b;
  uint64_t top = uint64_t{1} << (Lanes::width(sum) - 1);
  V sign = b.CreateAnd(b.CreateOr(l.bits(a), l.bits(c)), l.constant_like(sum, top));
  V is_zero = b.CreateFCmpOEQ(sum, l.zero(sum));
  return l.as_real(b.CreateOr(l.bits(sum), l.select(is_zero, sign, l.zero(sign))));
}

/// The error of a + c rounded to `sum`; -inf or +inf if the sum overflowed, NaN if an operand is
/// infinite.
V sum_error(Lanes& l, V a, V c, V sum) {
  auto& b = l.b;
  V swap = b.CreateFCmpOLT(l.fabs(a), l.fabs(c));
  V large = l.select(swap, c, a), small = l.select(swap, a, c);
  return b.CreateFSub(small, b.CreateFSub(sum, large));
}

/// One instruction with its rounding mode in it.
V embedded(Lanes& l, instructions::Operation operation, std::initializer_list<V> values,
           Round round) {
  const unsigned count = l.machine().elements_of(Lanes::width(*values.begin()));
  return l.in_chunks(count, values, [&](std::span<V const> x) {
    return instructions::rounded(l.b, operation, x, round);
  });
}

// Scales each possible error or sum of f32 operations in f64, at least 2^-330, into the range of
// f32.
constexpr double kMagnify = 0x1p250;

/// Rounds an f32 result that is given in f64; `error` is the part that f64 lost (null: none). The
/// step is made in f32, where the sign of the difference survives.
V narrow_sum(Lanes& l, V wide, V error, Round round) {
  auto& b = l.b;
  V nearest = l.to_f32(wide);
  V distance = b.CreateFSub(wide, l.to_f64(nearest));
  if (error) distance = b.CreateFAdd(distance, error);
  V sign = l.to_f32(b.CreateFMul(distance, l.real64(kMagnify)));
  return step_by_error(l, nearest, sign, round);
}

// Scale factors that keep error terms from underflowing, and the magnitude below which they are
// needed.
constexpr double kTiny = 0x1p-900, kScale = 0x1p600, kRootScale = 0x1p300;

V scale_where(Lanes& l, V condition, double factor) {
  return l.select(condition, l.real64(factor), l.real64(1.0));
}

V mul_f64(Lanes& l, V a, V c, Round round) {
  auto& b = l.b;
  V product = b.CreateFMul(a, c);
  V k = scale_where(l, b.CreateFCmpOLT(l.fabs(product), l.real64(kTiny)), kScale);
  V scaled = b.CreateFMul(b.CreateFMul(product, k), k);
  V error = l.fma(b.CreateFMul(a, k), b.CreateFMul(c, k), b.CreateFNeg(scaled));
  return step_by_error(l, product, error, round);
}

V div_f64(Lanes& l, V a, V c, Round round) {
  auto& b = l.b;
  V quotient = b.CreateFDiv(a, c);
  // Beyond the second limit the quotient of a tiny dividend is zero, so the error is the dividend.
  V tiny = l.both(b.CreateFCmpOLT(l.fabs(a), l.real64(kTiny)),
                  b.CreateFCmpOLT(l.fabs(c), l.real64(0x1p400)));
  V k = scale_where(l, tiny, kScale);
  V rest = l.fma(b.CreateFNeg(quotient), b.CreateFMul(c, k), b.CreateFMul(a, k));
  V sign = b.CreateAnd(l.bits(c), l.constant(64, uint64_t{1} << 63));
  return step_by_error(l, quotient, l.as_real(b.CreateXor(l.bits(rest), sign)), round);
}

V sqrt_f64(Lanes& l, V a, Round round) {
  auto& b = l.b;
  V root = l.sqrt(a);
  V k = scale_where(l, b.CreateFCmpOLT(a, l.real64(kTiny)), kRootScale);
  V scaled = b.CreateFMul(root, k);
  V error = l.fma(b.CreateFNeg(scaled), scaled, b.CreateFMul(b.CreateFMul(a, k), k));
  return step_by_error(l, root, error, round);
}

/// True if x * factor + offset is between 2^23 and 2^24 for all x from 0 to 1: in that range the
/// floats are the integers. CUDA's exponentials start with such a sum.
bool gives_integers(V x, V factor, V offset) {
  if (!Lanes::is_f32(x) || !Lanes::is_saturated(x)) return false;
  const auto scale = Lanes::known(factor), base = Lanes::known(offset);
  if (!scale || !base) return false;
  const auto number = [](uint64_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  };
  const double most = number(*scale), least = number(*base);
  return most >= 1 && least >= 0x1p23 && least + most <= 0x1p24 - 1;
}

/// Rounds such a sum in the mode. Its error is computed exactly, because its difference to the
/// offset is exact.
V integer_sum(Lanes& l, V x, V factor, V offset, Round round) {
  auto& b = l.b;
  V nearest = l.fma(x, factor, offset), word = l.bits(nearest);
  V error = l.fma(x, factor, b.CreateFSub(offset, nearest)), zero = l.zero(error);
  V stepped = round == Round::rp ? b.CreateSub(word, l.sext(b.CreateFCmpOGT(error, zero), 32))
                                 : b.CreateAdd(word, l.sext(b.CreateFCmpOLT(error, zero), 32));
  return l.as_real(stepped);
}

/// Computes a * c + d on machines without an instruction for it. The code is long for machines of
/// this kind: once per module, not once per instruction.
V emulated_fma(const Lanes& lanes, V a, V c, V d) {
  Lanes caller = lanes;
  if (Lanes::is_f64(a)) {
    return out_of_line(caller, "km_fma_f64", {a, c, d}, [](Lanes& l, std::span<V const> x) {
      return fma_by_sums(l, x[0], x[1], x[2]);
    });
  }
  return out_of_line(caller, "km_fma_f32", {a, c, d}, [](Lanes& l, std::span<V const> x) {
    V product = l.b.CreateFMul(l.to_f64(x[0]), l.to_f64(x[1]));
    return l.to_f32(add_to_odd(l, product, l.to_f64(x[2])));
  });
}

}  // namespace

Round round_of(ptx::Modifier direction) {
  switch (direction) {
    case ptx::Modifier::rz:
      return Round::rz;
    case ptx::Modifier::rm:
      return Round::rm;
    case ptx::Modifier::rp:
      return Round::rp;
    default:
      return Round::rn;
  }
}

Round round_of(const ptx::Instruction& instruction) {
  for (const auto direction : {ptx::Modifier::rz, ptx::Modifier::rm, ptx::Modifier::rp}) {
    if (instruction.has(direction)) return round_of(direction);
  }
  return Round::rn;
}

V narrow(Lanes& l, V wide, Round round) {
  V nearest = l.to_f32(wide);
  if (round == Round::rn) return nearest;
  V back = l.to_f64(nearest);
  return step(l, nearest, {l.b.CreateFCmpOGT(wide, back), l.b.CreateFCmpOLT(wide, back)}, round);
}

V narrow_to_odd(Lanes& l, V wide) {
  auto& b = l.b;
  V truncated = narrow(l, wide, Round::rz);
  V lost = l.zext(b.CreateFCmpONE(wide, l.to_f64(truncated)), 32);
  return l.as_real(b.CreateOr(l.bits(truncated), lost));
}

V sum_error_in_range(Lanes& l, V a, V c, V sum) {
  auto& b = l.b;
  V part = b.CreateFSub(sum, a);
  return b.CreateFAdd(b.CreateFSub(a, b.CreateFSub(sum, part)), b.CreateFSub(c, part));
}

V add_to_odd(Lanes& l, V a, V c) {
  auto& b = l.b;
  V sum = b.CreateFAdd(a, c);
  V error = sum_error_in_range(l, a, c, sum);
  V word = l.bits(sum), one = l.constant_like(word, 1), none = l.zero(word);
  V even = b.CreateICmpEQ(b.CreateAnd(word, one), none);
  V inexact = b.CreateFCmpONE(error, l.zero(error));
  V toward = b.CreateOr(sign_mask(l, b.CreateXor(word, l.bits(error))), one);
  return l.as_real(b.CreateAdd(word, l.select(l.both(even, inexact), toward, none)));
}

V rounded_add(Lanes& l, V a, V c, Round round) {
  if (round == Round::rn) return l.b.CreateFAdd(a, c);
  if (l.machine().has_embedded_rounding()) {
    return embedded(l, instructions::Operation::add, {a, c}, round);
  }
  if (Lanes::is_f32(a)) {
    V wide_a = l.to_f64(a), wide_c = l.to_f64(c), sum = l.b.CreateFAdd(wide_a, wide_c);
    V error = sum_error_in_range(l, wide_a, wide_c, sum);
    return zero_sum_sign(l, narrow_sum(l, sum, error, round), a, c, round);
  }
  V sum = l.b.CreateFAdd(a, c);
  V stepped = step_by_error(l, sum, sum_error(l, a, c, sum), round);
  return zero_sum_sign(l, stepped, a, c, round);
}

V rounded_sub(Lanes& l, V a, V c, Round round) {
  if (round == Round::rn) return l.b.CreateFSub(a, c);
  return rounded_add(l, a, l.b.CreateFNeg(c), round);
}

V rounded_mul(Lanes& l, V a, V c, Round round) {
  if (round == Round::rn) return l.b.CreateFMul(a, c);
  if (l.machine().has_embedded_rounding()) {
    return embedded(l, instructions::Operation::mul, {a, c}, round);
  }
  if (Lanes::is_f64(a)) return mul_f64(l, a, c, round);
  V product = l.b.CreateFMul(l.to_f64(a), l.to_f64(c));  // 48 bits, so exact
  return narrow_sum(l, product, nullptr, round);
}

V rounded_fma(Lanes& l, V a, V c, V d, Round round) {
  if (round == Round::rn) return l.fma(a, c, d);
  if (llvm::isa<llvm::Constant>(a)) std::swap(a, c);
  const bool integers = gives_integers(a, c, d);
  if (l.machine().has_embedded_rounding()) {
    V sum = embedded(l, instructions::Operation::fma, {a, c, d}, round);
    return integers ? Lanes::number(sum) : sum;
  }
  if (integers && l.has_fma(a)) return Lanes::number(integer_sum(l, a, c, d, round));
  if (Lanes::is_f64(a)) return soft_fma(l, a, c, d, round);
  auto& b = l.b;
  V product = b.CreateFMul(l.to_f64(a), l.to_f64(c)), addend = l.to_f64(d);
  V sum = b.CreateFAdd(product, addend);
  V error = sum_error_in_range(l, product, addend, sum);
  V rounded = narrow_sum(l, sum, error, round);
  if (round != Round::rm) return rounded;
  // zero_sum_sign() with the sign of the product, which is that of its factors.
  V signs = b.CreateOr(b.CreateXor(l.bits(a), l.bits(c)), l.bits(d));
  V sign = b.CreateAnd(signs, l.constant(32, 0x80000000));
  // The rounded sum is not used: if it underflowed, its sign is right already.
  V magnified = l.to_f32(b.CreateFMul(sum, l.real64(kMagnify)));
  V is_zero = b.CreateFCmpOEQ(magnified, l.zero(magnified));
  return l.as_real(b.CreateOr(l.bits(rounded), l.select(is_zero, sign, l.zero(sign))));
}

V rounded_div(Lanes& l, V a, V c, Round round) {
  if (round == Round::rn) return l.b.CreateFDiv(a, c);
  if (l.machine().has_embedded_rounding()) {
    return embedded(l, instructions::Operation::div, {a, c}, round);
  }
  if (Lanes::is_f64(a)) return div_f64(l, a, c, round);
  // A quotient of 24-bit numbers is at least 2^-49 (relative) from every other 24-bit number, so
  // rounding it to 53 bits keeps its side.
  return narrow_sum(l, l.b.CreateFDiv(l.to_f64(a), l.to_f64(c)), nullptr, round);
}

V rounded_sqrt(Lanes& l, V a, Round round) {
  if (round == Round::rn) return l.sqrt(a);
  if (l.machine().has_embedded_rounding()) {
    return embedded(l, instructions::Operation::sqrt, {a}, round);
  }
  if (Lanes::is_f64(a)) return sqrt_f64(l, a, round);
  // Exact for the same reason as quotients.
  return narrow_sum(l, l.sqrt(l.to_f64(a)), nullptr, round);
}

V Lanes::fma(V a, V c, V d) const {
  if (has_fma(a)) return b.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, c, d});
  return emulated_fma(*this, a, c, d);
}

}  // namespace km::simt::arithmetic
