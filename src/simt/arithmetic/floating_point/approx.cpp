// The approximate instructions: instantiates src/ptx/approx.h for lanes.
#include "ptx/approx.h"

#include <llvm/IR/Intrinsics.h>

#include "simt/arithmetic/floating_point/half.h"
#include "simt/arithmetic/floating_point/to_integer.h"
#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {
namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Type;

/// The operations that ptx::Approx requires. Constants have the width of the other operand.
struct LaneOps {
  using F32 = V;
  using F64 = V;
  using I32 = V;
  using I64 = V;
  using Bool = V;

  V f(float value) { return l.real32(value); }
  V d(double value) { return l.real64(value); }
  V i(uint32_t value) { return l.constant(32, value); }
  V i64(uint64_t value) { return l.constant(64, value); }
  V add(V a, V c) { return l.b.CreateFAdd(a, c); }
  V sub(V a, V c) { return l.b.CreateFSub(a, c); }
  V mul(V a, V c) { return l.b.CreateFMul(a, c); }
  V div(V a, V c) { return l.b.CreateFDiv(a, c); }
  V fma(V a, V c, V d) { return l.fma(a, c, d); }
  V sqrt(V a) { return l.sqrt(a); }
  V round(V a) { return l.call(llvm::Intrinsic::roundeven, a); }
  V flush(V a) {
    if (Lanes::is_f32(a)) return l.flush(a);
    V word = l.bits(a), sign = l.b.CreateAnd(word, l.constant(64, uint64_t{1} << 63));
    V exponent = l.b.CreateAnd(word, l.constant(64, 0x7ff0000000000000));
    return l.as_real(l.select(is_zero(exponent), sign, word));
  }
  V iadd(V a, V c) { return l.b.CreateAdd(a, c); }
  V isub(V a, V c) { return l.b.CreateSub(a, c); }
  V iand(V a, V c) { return l.b.CreateAnd(a, c); }
  V ior(V a, V c) { return l.b.CreateOr(a, c); }
  V ixor(V a, V c) { return l.b.CreateXor(a, c); }
  V shl(V a, unsigned n) { return l.b.CreateShl(a, l.constant_like(a, n)); }
  V sar(V a, unsigned n) { return l.b.CreateAShr(a, l.constant_like(a, n)); }
  V bits(V a) { return l.bits(a); }
  V real(V a) { return l.as_real(a); }
  V to_int(V a) { return f32_to_int(l, a, Round::rz); }
  V from_int(V a) { return l.b.CreateSIToFP(a, l.f32()); }
  V less(V a, V c) { return l.b.CreateFCmpOLT(a, c); }
  V equal(V a, V c) { return l.b.CreateFCmpOEQ(a, c); }
  V is_zero(V a) { return l.b.CreateICmpEQ(a, l.zero(a)); }
  V select(V condition, V a, V c) { return l.select(condition, a, c); }

  Lanes& l;
};

V unary(Lanes& l, Opcode opcode, V x, bool ftz) {
  LaneOps ops{l};
  ptx::Approx<LaneOps> approx(ops);
  switch (opcode) {
    case Opcode::rcp:
      return approx.rcp(x, ftz);
    case Opcode::sqrt:
      return approx.sqrt(x, ftz);
    case Opcode::rsqrt:
      return approx.rsqrt(x, ftz);
    case Opcode::sin:
      return approx.sin(x, ftz);
    case Opcode::cos:
      return approx.cos(x, ftz);
    case Opcode::lg2:
      return approx.lg2(x, ftz);
    case Opcode::ex2:
      return approx.ex2(x, ftz);
    default:
      return approx.tanh(x);
  }
}

Values on_f32(Lanes& l, const Instruction& in, std::span<V const> s) {
  return {unary(l, in.opcode, s[0], in.has(Modifier::ftz))};
}

Values div_f32(Lanes& l, const Instruction& in, std::span<V const> s) {
  LaneOps ops{l};
  ptx::Approx<LaneOps> approx(ops);
  bool ftz = in.has(Modifier::ftz);
  return {in.has(Modifier::full) ? approx.div_full(s[0], s[1], ftz) : approx.div(s[0], s[1], ftz)};
}

/// ex2 and tanh of halves are computed in f32 and rounded. bf16 is flushed, f16 is not.
Values on_halves(Lanes& l, const Instruction& in, std::span<V const> s) {
  Type type = element_of(in.type());
  bool packed = is_packed_half(in.type()), ftz = in.has(Modifier::ftz);
  Lanes lanes = packed ? l.halves() : l;
  V x = half_to_f32(lanes, type, packed ? l.split_halves(s[0]) : s[0]);
  V half = f32_to_half(lanes, type, unary(lanes, in.opcode, x, ftz), Round::rn);
  return {packed ? l.join_halves(half) : half};
}

Values on_f64(Lanes& l, const Instruction& in, std::span<V const> s) {
  LaneOps ops{l};
  ptx::Approx64<LaneOps> approx(ops);
  if (in.opcode == Opcode::rcp) return {approx.rcp_ftz(s[0])};
  return {in.has(Modifier::ftz) ? approx.rsqrt_ftz(s[0]) : approx.rsqrt(s[0])};
}

}  // namespace

Handler find_approx(const Instruction& in) {
  if (in.opcode == Opcode::div) return div_f32;
  if (in.type() == Type::f64) return on_f64;
  return in.type() == Type::f32 ? on_f32 : on_halves;
}

}  // namespace km::simt::arithmetic
