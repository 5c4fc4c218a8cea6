// cvt of the floating-point formats of 4 to 8 bits, which exist only in pairs and fours.
#include "simt/arithmetic/floating_point/narrow_float.h"

#include <llvm/IR/Intrinsics.h>

#include <array>

#include "simt/arithmetic/floating_point/half.h"

namespace km::simt::arithmetic {
namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Type;

// e4m3 has no infinity. Its only NaN is all ones, like the NaN that PTX uses for e5m2. The formats
// of 4 and 6 bits have neither; NaN becomes their largest number.
constexpr NarrowFormat kE4m3{8, 8, 3, 7, 0x7e, 0, 0x7f}, kE5m2{8, 8, 2, 15, 0x7b, 0x7c, 0x7f};
constexpr NarrowFormat kE2m3{6, 8, 3, 1, 0x1f, 0, 0x1f}, kE3m2{6, 8, 2, 3, 0x1f, 0, 0x1f};
constexpr NarrowFormat kE2m1{4, 4, 1, 1, 0x7, 0, 0x7};

/// Adds the sign to a magnitude, or makes it zero with .relu; NaN gives the format's NaN.
V with_sign(Lanes& l, const Instruction& in, const NarrowFormat& format, V real, V magnitude) {
  auto& b = l.b;
  V word = l.bits(real);
  V sign = b.CreateAnd(b.CreateLShr(word, l.constant(32, 32 - format.width)),
                       l.constant(32, uint32_t{1} << (format.width - 1)));
  if (in.has(Modifier::relu)) {
    magnitude = l.select(b.CreateICmpEQ(sign, l.zero(sign)), magnitude, l.zero(magnitude));
  } else {
    magnitude = b.CreateOr(magnitude, sign);
  }
  return l.select(l.is_nan(real), l.constant(32, format.nan), magnitude);
}

/// Rounds f32 to a narrow format in 32-bit lanes, to nearest; numbers beyond the range become the
/// largest.
V narrow(Lanes& l, const Instruction& in, const NarrowFormat& format, V real) {
  auto& b = l.b;
  V word = l.bits(real);
  V magnitude = b.CreateAnd(word, l.constant(32, 0x7fffffff));
  unsigned dropped = format.dropped();
  uint32_t bias = format.bias_difference();
  V odd = b.CreateAnd(b.CreateLShr(magnitude, l.constant(32, dropped)), l.constant(32, 1));
  V carry = b.CreateAdd(odd, l.constant(32, (1u << (dropped - 1)) - 1));
  V normal = b.CreateLShr(b.CreateAdd(magnitude, carry), l.constant(32, dropped));
  normal = b.CreateSub(normal, l.constant(32, bias << format.fraction));
  // Adding this power of two aligns the f32's last place with that of a subnormal.
  uint32_t beside = (bias + 1 + dropped) << 23;
  V sum = b.CreateFAdd(l.as_real(magnitude), l.as_real(l.constant(32, beside)));
  V subnormal = b.CreateSub(l.bits(sum), l.constant(32, beside));
  V small = b.CreateICmpULT(magnitude, l.constant(32, (bias + 1) << 23));
  V code = l.select(small, subnormal, normal);
  code = l.call(llvm::Intrinsic::umin, code, l.constant(32, format.most));
  return with_sign(l, in, format, real, code);
}

/// Joins two codes in 32-bit lanes; the first goes to the upper half of the result.
V pack(Lanes& l, const NarrowFormat& format, V upper, V lower) {
  const unsigned bits = format.storage;
  return l.zext(l.b.CreateOr(l.b.CreateShl(upper, l.constant(32, bits)), lower), 2 * bits);
}

Values from_f32(Lanes& l, const Instruction& in, std::span<V const> s) {
  const NarrowFormat& format = *narrow_format(in.type(0));
  return {pack(l, format, narrow(l, in, format, s[0]), narrow(l, in, format, s[1]))};
}

V half_of(Lanes& l, V pair, unsigned shift) {
  return l.zext(l.b.CreateLShr(pair, l.constant(32, shift)), 16);
}

Values from_halves(Lanes& l, const Instruction& in, std::span<V const> s) {
  const NarrowFormat& format = *narrow_format(in.type(0));
  const Type half = element_of(in.type(1));
  V upper = half_to_f32(l, half, half_of(l, s[0], 16));
  V lower = half_to_f32(l, half, half_of(l, s[0], 0));
  return {pack(l, format, narrow(l, in, format, upper), narrow(l, in, format, lower))};
}

/// Converts a code in a 32-bit lane to the bits of an f16 or bf16 there.
V widen(Lanes& l, const Instruction& in, const NarrowFormat& format, V code) {
  auto& b = l.b;
  const Type type = element_of(in.type(0));
  const uint32_t mask = (uint32_t{1} << (format.width - 1)) - 1;
  V magnitude = b.CreateAnd(code, l.constant(32, mask));
  V sign =
      b.CreateShl(b.CreateAnd(code, l.constant(32, mask + 1)), l.constant(32, 32 - format.width));
  // The f32 has too small an exponent, which a multiplication corrects, for subnormals too.
  V unscaled = l.as_real(b.CreateShl(magnitude, l.constant(32, 23 - format.fraction)));
  V scale = l.as_real(l.constant(32, static_cast<uint64_t>(254 - format.bias) << 23));
  V real = l.as_real(b.CreateOr(l.bits(b.CreateFMul(unscaled, scale)), sign));
  V half = l.zext(f32_to_half(l, type, real, Round::rz), 32);  // exact
  if (format.most != mask) {
    V beyond = b.CreateICmpUGT(magnitude, l.constant(32, format.most));
    V infinite = b.CreateICmpEQ(magnitude, l.constant(32, format.infinity));
    const uint32_t bits =
        (type == Type::f16 ? 0x7c00 : 0x7f80) - (in.has(Modifier::satfinite) ? 1 : 0);
    V infinity = b.CreateOr(b.CreateLShr(sign, l.constant(32, 16)), l.constant(32, bits));
    half = l.select(beyond, l.select(infinite, infinity, l.constant(32, kNan16)), half);
  }
  if (!in.has(Modifier::relu)) return half;
  V negative =
      b.CreateAnd(b.CreateICmpNE(sign, l.zero(sign)), b.CreateICmpNE(half, l.constant(32, kNan16)));
  return l.select(negative, l.zero(half), half);
}

Values to_halves(Lanes& l, const Instruction& in, std::span<V const> s) {
  const NarrowFormat& format = *narrow_format(in.type(1));
  auto& b = l.b;
  V pair = l.zext(s[0], 32);
  V upper = widen(l, in, format, b.CreateLShr(pair, l.constant(32, format.storage)));
  V lower =
      widen(l, in, format, b.CreateAnd(pair, l.constant(32, (uint32_t{1} << format.storage) - 1)));
  return {b.CreateOr(b.CreateShl(upper, l.constant(32, 16)), lower)};
}

// ---- .rs: random bits are added below the last place that is kept, and the sum is truncated.

/// Rounds f32 by 16 random bits in 32-bit lanes.
V narrow_stochastic(Lanes& l, const Instruction& in, const NarrowFormat& format, V real, V random) {
  constexpr unsigned kRandomBits = 16;
  V code =
      stochastic_magnitude(l, real, random, kRandomBits, format.fraction, format.bias_difference());
  code = l.call(llvm::Intrinsic::umin, code, l.constant(32, format.most));
  return with_sign(l, in, format, real, code);
}

/// The random bits of four numbers: one half for each pair, which the pair's first number takes in
/// reverse. Results of 16 bits take the bytes of their halves by turns.
std::array<V, 4> random_bits(Lanes& l, const NarrowFormat& format, V word) {
  auto& b = l.b;
  const auto byte = [&](unsigned index) {
    return b.CreateAnd(b.CreateLShr(word, l.constant(32, 8 * index)), l.constant(32, 0xff));
  };
  const auto bytes = [&](unsigned upper, unsigned lower) {
    return b.CreateOr(b.CreateShl(byte(upper), l.constant(32, 8)), byte(lower));
  };
  const bool is_word = format.storage == 8;
  V high = is_word ? bytes(3, 2) : bytes(3, 1);
  V low = is_word ? bytes(1, 0) : bytes(2, 0);
  const auto reversed = [&](V half) {
    return b.CreateLShr(l.call(llvm::Intrinsic::bitreverse, half), l.constant(32, 16));
  };
  return {reversed(high), high, reversed(low), low};
}

Values four_stochastic(Lanes& l, const Instruction& in, std::span<V const> s) {
  const NarrowFormat& format = *narrow_format(in.type(0));
  const std::array<V, 4> random = random_bits(l, format, s[4]);
  V result = l.constant(32, 0);
  for (unsigned i = 0; i < 4; ++i) {
    V code = narrow_stochastic(l, in, format, s[i], random[i]);
    result = l.b.CreateOr(result, l.b.CreateShl(code, l.constant(32, format.storage * (3 - i))));
  }
  return {l.zext(result, 4 * format.storage)};
}

// ---- ue8m0: powers of two from 2^-127, without a sign; 0xff is NaN.

constexpr uint32_t kNanScale = 0xff;

V scale_of(Lanes& l, const Instruction& in, V real) {
  auto& b = l.b;
  V magnitude = b.CreateAnd(l.bits(real), l.constant(32, 0x7fffffff));
  V exponent = b.CreateLShr(magnitude, l.constant(32, 23));
  V finite = b.CreateICmpULT(magnitude, l.constant(32, 0x7f800000));
  if (in.has(Modifier::rp)) {
    V fraction = b.CreateAnd(magnitude, l.constant(32, 0x7fffff));
    V between = b.CreateAnd(b.CreateICmpNE(fraction, l.zero(fraction)),
                            b.CreateICmpUGT(magnitude, l.constant(32, 0x400000)));  // 2^-127
    exponent = b.CreateAdd(exponent, l.zext(b.CreateAnd(between, finite), 32));
  }
  if (in.has(Modifier::satfinite)) {
    exponent = l.call(llvm::Intrinsic::umin, exponent, l.constant(32, kNanScale - 1));
  }
  return l.select(l.is_nan(real), l.constant(32, kNanScale), exponent);
}

V pack_scales(Lanes& l, const Instruction& in, V upper, V lower) {
  V high = l.b.CreateShl(scale_of(l, in, upper), l.constant(32, 8));
  return l.zext(l.b.CreateOr(high, scale_of(l, in, lower)), 16);
}

Values scales_from_f32(Lanes& l, const Instruction& in, std::span<V const> s) {
  return {pack_scales(l, in, s[0], s[1])};
}

Values scales_from_bf16x2(Lanes& l, const Instruction& in, std::span<V const> s) {
  V upper = half_to_f32(l, Type::bf16, half_of(l, s[0], 16));
  V lower = half_to_f32(l, Type::bf16, half_of(l, s[0], 0));
  return {pack_scales(l, in, upper, lower)};
}

V bf16_of_scale(Lanes& l, V scale) {
  auto& b = l.b;
  constexpr uint32_t kSmallest = 0x40;  // 2^-127, a subnormal of bf16
  V normal = b.CreateShl(scale, l.constant(32, 7));
  V half = l.select(b.CreateICmpEQ(scale, l.zero(scale)), l.constant(32, kSmallest), normal);
  return l.select(b.CreateICmpEQ(scale, l.constant(32, kNanScale)), l.constant(32, kNan16), half);
}

Values scales_to_bf16x2(Lanes& l, const Instruction&, std::span<V const> s) {
  auto& b = l.b;
  V pair = l.zext(s[0], 32);
  V upper = bf16_of_scale(l, b.CreateLShr(pair, l.constant(32, 8)));
  V lower = bf16_of_scale(l, b.CreateAnd(pair, l.constant(32, 0xff)));
  return {b.CreateOr(b.CreateShl(upper, l.constant(32, 16)), lower)};
}

}  // namespace

const NarrowFormat* narrow_format(Type type) {
  switch (type) {
    case Type::e4m3x2:
    case Type::e4m3x4:
      return &kE4m3;
    case Type::e5m2x2:
    case Type::e5m2x4:
      return &kE5m2;
    case Type::e2m3x2:
    case Type::e2m3x4:
      return &kE2m3;
    case Type::e3m2x2:
    case Type::e3m2x4:
      return &kE3m2;
    case Type::e2m1x2:
    case Type::e2m1x4:
      return &kE2m1;
    default:
      return nullptr;
  }
}

V stochastic_magnitude(Lanes& l, V real, V random, unsigned random_bits, unsigned fraction,
                       uint32_t bias_difference) {
  auto& b = l.b;
  V magnitude = b.CreateAnd(l.bits(real), l.constant(32, 0x7fffffff));
  const auto rounded = [&](V kept_and_random) {
    return b.CreateLShr(b.CreateAdd(kept_and_random, random), l.constant(32, random_bits));
  };
  V normal = rounded(b.CreateLShr(magnitude, l.constant(32, 23 - fraction - random_bits)));
  if (bias_difference == 0) return normal;  // subnormals lie at the same places
  normal = b.CreateSub(normal, l.constant(32, bias_difference << fraction));
  // Subnormal results drop more bits; those below the random ones cannot carry.
  V exponent = b.CreateLShr(magnitude, l.constant(32, 23));
  V significand =
      b.CreateOr(b.CreateAnd(magnitude, l.constant(32, 0x7fffff)), l.constant(32, 0x800000));
  V shift = b.CreateSub(l.constant(32, 24 - fraction - random_bits + bias_difference), exponent);
  shift = l.call(llvm::Intrinsic::umin, shift, l.constant(32, 31));
  V subnormal = rounded(b.CreateLShr(significand, shift));
  V small = b.CreateICmpULT(magnitude, l.constant(32, (bias_difference + 1) << 23));
  return l.select(small, subnormal, normal);
}

Handler find_narrow_float(const Instruction& in) {
  if (in.type_count != 2) return nullptr;
  const Type to = in.type(0), from = in.type(1);
  if (to == Type::ue8m0x2) return from == Type::f32 ? scales_from_f32 : scales_from_bf16x2;
  if (from == Type::ue8m0x2) return scales_to_bf16x2;
  if (narrow_format(to) && in.has(Modifier::rs)) return four_stochastic;
  if (narrow_format(to)) return from == Type::f32 ? from_f32 : from_halves;
  return narrow_format(from) && is_packed_half(to) ? to_halves : nullptr;
}

}  // namespace km::simt::arithmetic
