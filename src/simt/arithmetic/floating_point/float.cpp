// f32 and f64 arithmetic that PTX defines exactly.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

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

}  // namespace

Handler find_float(const Instruction& in) {
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
      return in.operand_count == 3 ? min_max : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace km::simt::arithmetic
