// f32 and f64 arithmetic that PTX defines exactly.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "simt/arithmetic/floating_point/half.h"
#include "simt/arithmetic/floating_point/minmax.h"
#include "simt/arithmetic/floating_point/rounding.h"
#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {

V real_min_max(Lanes& l, bool maximum, bool propagate_nan, V a, V c) {
  auto& b = l.b;
  if (llvm::isa<llvm::Constant>(a)) std::swap(a, c);
  // MINPS and MAXPS return the second operand if the comparison fails; this form lets LLVM use
  // them.
  V first = maximum ? b.CreateFCmpOGT(a, c) : b.CreateFCmpOLT(a, c);
  V result = l.select(first, a, c);
  // Equal numbers can only differ in bits if they are zeros, so the sign decides.
  auto fixed = Lanes::known(c);
  bool wins_ties = fixed && *fixed != (maximum ? uint64_t{1} << (Lanes::width(c) - 1) : 0);
  if (!wins_ties) {
    V word = maximum ? b.CreateAnd(l.bits(a), l.bits(c)) : b.CreateOr(l.bits(a), l.bits(c));
    result = l.select(b.CreateFCmpOEQ(a, c), l.as_real(word), result);
  }
  V nan = l.nan_like(a);
  if (propagate_nan) return l.select(b.CreateFCmpUNO(a, c), nan, result);
  return l.select(l.is_nan(c), a, result);
}

V xorsign_min_max(Lanes& l, bool maximum, bool propagate_nan, V a, V c) {
  auto& b = l.b;
  V result = real_min_max(l, maximum, propagate_nan, l.fabs(a), l.fabs(c));
  uint64_t top = uint64_t{1} << (Lanes::width(a) - 1);
  V sign = b.CreateAnd(b.CreateXor(l.bits(a), l.bits(c)), l.constant_like(a, top));
  V signed_result = l.as_real(b.CreateOr(l.bits(result), sign));
  return l.select(l.is_nan(result), result, signed_result);
}

namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Type;

/// True if subnormals become 0: .ftz on f64, which rcp accepts, has no effect.
bool flushes(const Instruction& in) { return in.has(Modifier::ftz) && in.type() != Type::f64; }

Values inputs(Lanes& l, const Instruction& in, std::span<V const> s) {
  Values flushed(s.begin(), s.end());
  if (flushes(in)) {
    for (V& value : flushed) value = l.flush(value);
  }
  return flushed;
}

/// Applies .ftz and .sat to a result.
Values output(Lanes& l, const Instruction& in, V value) {
  value = l.flush_if(flushes(in), value);
  return {in.has(Modifier::sat) ? l.saturate(value) : value};
}

Values add(Lanes& l, const Instruction& in, std::span<V const> s) {
  Values x = inputs(l, in, s);
  return output(l, in, rounded_add(l, x[0], x[1], round_of(in)));
}

Values sub(Lanes& l, const Instruction& in, std::span<V const> s) {
  Values x = inputs(l, in, s);
  return output(l, in, rounded_sub(l, x[0], x[1], round_of(in)));
}

Values mul(Lanes& l, const Instruction& in, std::span<V const> s) {
  Values x = inputs(l, in, s);
  return output(l, in, rounded_mul(l, x[0], x[1], round_of(in)));
}

Values fma(Lanes& l, const Instruction& in, std::span<V const> s) {
  Values x = inputs(l, in, s);
  return output(l, in, rounded_fma(l, x[0], x[1], x[2], round_of(in)));
}

Values div(Lanes& l, const Instruction& in, std::span<V const> s) {
  Values x = inputs(l, in, s);
  return output(l, in, rounded_div(l, x[0], x[1], round_of(in)));
}

Values rcp(Lanes& l, const Instruction& in, std::span<V const> s) {
  Values x = inputs(l, in, s);
  return output(l, in, rounded_div(l, l.real(x[0], 1.0), x[0], round_of(in)));
}

Values sqrt(Lanes& l, const Instruction& in, std::span<V const> s) {
  return {rounded_sqrt(l, inputs(l, in, s)[0], round_of(in))};  // a square root is never subnormal
}

Values absolute(Lanes& l, const Instruction& in, std::span<V const> s) {
  return {l.fabs(inputs(l, in, s)[0])};
}

Values negate(Lanes& l, const Instruction& in, std::span<V const> s) {
  return {l.b.CreateFNeg(inputs(l, in, s)[0])};
}

Values copysign(Lanes& l, const Instruction&, std::span<V const> s) {
  return {l.copysign(s[1], s[0])};
}

Values min_max(Lanes& l, const Instruction& in, std::span<V const> s) {
  Values x = inputs(l, in, s);
  bool maximum = in.opcode == Opcode::max, propagate = in.has(Modifier::NaN);
  auto build = in.has(Modifier::xorsign) ? xorsign_min_max : real_min_max;
  return {build(l, maximum, propagate, x[0], x[1])};
}

Values min_max_of_three(Lanes& l, const Instruction& in, std::span<V const> s) {
  Values x = inputs(l, in, s);
  if (in.has(Modifier::abs)) {
    for (V& value : x) value = l.fabs(value);
  }
  bool maximum = in.opcode == Opcode::max, propagate = in.has(Modifier::NaN);
  V first = real_min_max(l, maximum, propagate, x[0], x[1]);
  return {real_min_max(l, maximum, propagate, first, x[2])};
}

/// Applies an operation on f32 to both numbers of f32x2, the first in the lower half. Registers of
/// 64 bits are bits to others, so that their NaNs are canonical at once.
template <Handler kOperation>
Values on_pairs(Lanes& l, const Instruction& in, std::span<V const> s) {
  Lanes pairs = l.halves();
  Values numbers;
  for (V source : s) numbers.push_back(l.b.CreateBitCast(source, pairs.f32()));
  V result = pairs.canonical_nan(kOperation(pairs, in, numbers)[0]);
  return {l.b.CreateBitCast(result, l.integer(64))};
}

/// Applies an operation on f32 to factors or a summand in f16 or bf16, which f32 holds exactly, and
/// a last operand in f32.
template <Handler kOperation>
Values on_mixed(Lanes& l, const Instruction& in, std::span<V const> s) {
  Values numbers;
  for (V source : s.first(s.size() - 1)) numbers.push_back(half_to_f32(l, in.type(1), source));
  numbers.push_back(s.back());
  return kOperation(l, in, numbers);
}

Handler find_pairs(Opcode opcode) {
  switch (opcode) {
    case Opcode::add:
      return on_pairs<add>;
    case Opcode::sub:
      return on_pairs<sub>;
    case Opcode::mul:
      return on_pairs<mul>;
    case Opcode::fma:
      return on_pairs<fma>;
    default:
      return nullptr;
  }
}

Handler find_mixed(Opcode opcode) {
  switch (opcode) {
    case Opcode::add:
      return on_mixed<add>;
    case Opcode::sub:
      return on_mixed<sub>;
    case Opcode::fma:
      return on_mixed<fma>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler find_float(const Instruction& in) {
  if (in.type() == Type::f32x2) return find_pairs(in.opcode);
  if (in.type_count == 2) return find_mixed(in.opcode);
  bool known = in.type_count == 1 && (in.type() == Type::f32 || in.type() == Type::f64);
  if (!known) return nullptr;
  if (in.has(Modifier::approx) || in.has(Modifier::full)) return find_approx(in);
  switch (in.opcode) {
    case Opcode::add:
      return add;
    case Opcode::sub:
      return sub;
    case Opcode::mul:
      return mul;
    case Opcode::fma:
    case Opcode::mad:
      return fma;
    case Opcode::div:
      return div;
    case Opcode::rcp:
      return rcp;
    case Opcode::sqrt:
      return sqrt;
    case Opcode::abs:
      return absolute;
    case Opcode::neg:
      return negate;
    case Opcode::copysign:
      return copysign;
    case Opcode::min:
    case Opcode::max:
      return in.operand_count == 3 ? min_max : min_max_of_three;
    default:
      return nullptr;
  }
}

}  // namespace km::simt::arithmetic
