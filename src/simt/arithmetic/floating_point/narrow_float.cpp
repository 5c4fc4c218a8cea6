// cvt of the 8-bit floating-point formats e4m3 and e5m2, which exist only in pairs.
#include <llvm/IR/Intrinsics.h>

#include "simt/arithmetic/floating_point/half.h"

namespace km::simt::arithmetic {
namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Type;

struct Format {
  unsigned fraction;  // number of fraction bits
  int bias;
  uint32_t most;      // bits of the largest finite number
  uint32_t infinity;  // bits of infinity; 0: none
};

// e4m3 has no infinity. Its only NaN is all ones, like the NaN that PTX uses for e5m2.
constexpr Format kE4m3{3, 7, 0x7e, 0}, kE5m2{2, 15, 0x7b, 0x7c};
constexpr uint32_t kNan8 = 0x7f;

const Format* format_of(Type type) {
  if (type == Type::e4m3x2) return &kE4m3;
  return type == Type::e5m2x2 ? &kE5m2 : nullptr;
}

/// Rounds f32 to 8 bits in 32-bit lanes, to nearest; numbers beyond the range become the largest.
V narrow_8(Lanes& l, const Instruction& in, const Format& format, V real) {
  auto& b = l.b;
  V word = l.bits(real);
  V magnitude = b.CreateAnd(word, l.constant(32, 0x7fffffff));
  unsigned dropped = 23 - format.fraction;
  uint32_t bias = static_cast<uint32_t>(127 - format.bias);
  V odd = b.CreateAnd(b.CreateLShr(magnitude, l.constant(32, dropped)), l.constant(32, 1));
  V carry = b.CreateAdd(odd, l.constant(32, (1u << (dropped - 1)) - 1));
  V normal = b.CreateLShr(b.CreateAdd(magnitude, carry), l.constant(32, dropped));
  normal = b.CreateSub(normal, l.constant(32, bias << format.fraction));
  // Adding this power of two aligns the f32's last place with that of a subnormal.
  uint32_t beside = (bias + 1 + dropped) << 23;
  V sum = b.CreateFAdd(l.as_real(magnitude), l.as_real(l.constant(32, beside)));
  V subnormal = b.CreateSub(l.bits(sum), l.constant(32, beside));
  V small = b.CreateICmpULT(magnitude, l.constant(32, (bias + 1) << 23));
  V byte = l.select(small, subnormal, normal);
  byte = l.call(llvm::Intrinsic::umin, byte, l.constant(32, format.most));
  V sign = b.CreateAnd(b.CreateLShr(word, l.constant(32, 24)), l.constant(32, 0x80));
  if (in.has(Modifier::relu)) {
    byte = l.select(b.CreateICmpEQ(sign, l.zero(sign)), byte, l.zero(byte));
  } else {
    byte = b.CreateOr(byte, sign);
  }
  return l.select(l.is_nan(real), l.constant(32, kNan8), byte);
}

V pack(Lanes& l, V upper, V lower) {
  return l.zext(l.b.CreateOr(l.b.CreateShl(upper, l.constant(32, 8)), lower), 16);
}

Values from_f32(Lanes& l, const Instruction& in, std::span<V const> s) {
  const Format& format = *format_of(in.type(0));
  return {pack(l, narrow_8(l, in, format, s[0]), narrow_8(l, in, format, s[1]))};
}

V half_of(Lanes& l, V pair, unsigned shift) {
  return l.zext(l.b.CreateLShr(pair, l.constant(32, shift)), 16);
}

Values from_f16x2(Lanes& l, const Instruction& in, std::span<V const> s) {
  const Format& format = *format_of(in.type(0));
  V upper = half_to_f32(l, Type::f16, half_of(l, s[0], 16));
  V lower = half_to_f32(l, Type::f16, half_of(l, s[0], 0));
  return {pack(l, narrow_8(l, in, format, upper), narrow_8(l, in, format, lower))};
}

/// Converts a byte in a 32-bit lane to the bits of an f16 there.
V widen_8(Lanes& l, const Instruction& in, const Format& format, V byte) {
  auto& b = l.b;
  V magnitude = b.CreateAnd(byte, l.constant(32, 0x7f));
  V sign = b.CreateShl(b.CreateAnd(byte, l.constant(32, 0x80)), l.constant(32, 24));
  // The f32 has too small an exponent, which a multiplication corrects, for subnormals too.
  V unscaled = l.as_real(b.CreateShl(magnitude, l.constant(32, 23 - format.fraction)));
  V scale = l.as_real(l.constant(32, static_cast<uint64_t>(254 - format.bias) << 23));
  V real = l.as_real(b.CreateOr(l.bits(b.CreateFMul(unscaled, scale)), sign));
  V half = l.zext(f32_to_half(l, Type::f16, real, Round::rz), 32);  // exact
  V beyond = b.CreateICmpUGT(magnitude, l.constant(32, format.most));
  V infinite = b.CreateICmpEQ(magnitude, l.constant(32, format.infinity));
  V infinity = b.CreateOr(b.CreateLShr(sign, l.constant(32, 16)), l.constant(32, 0x7c00));
  half = l.select(beyond, l.select(infinite, infinity, l.constant(32, kNan16)), half);
  if (!in.has(Modifier::relu)) return half;
  V negative =
      b.CreateAnd(b.CreateICmpNE(sign, l.zero(sign)), b.CreateICmpNE(half, l.constant(32, kNan16)));
  return l.select(negative, l.zero(half), half);
}

Values to_f16x2(Lanes& l, const Instruction& in, std::span<V const> s) {
  const Format& format = *format_of(in.type(1));
  auto& b = l.b;
  V pair = l.zext(s[0], 32);
  V upper = widen_8(l, in, format, b.CreateLShr(pair, l.constant(32, 8)));
  V lower = widen_8(l, in, format, b.CreateAnd(pair, l.constant(32, 0xff)));
  return {b.CreateOr(b.CreateShl(upper, l.constant(32, 16)), lower)};
}

}  // namespace

Handler find_narrow_float(const Instruction& in) {
  if (in.type_count != 2) return nullptr;
  if (format_of(in.type(0))) return in.type(1) == Type::f32 ? from_f32 : from_f16x2;
  return format_of(in.type(1)) ? to_f16x2 : nullptr;
}

}  // namespace km::simt::arithmetic
