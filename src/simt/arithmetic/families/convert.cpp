// cvt between integers and floating point. to_integer.cpp has the conversions from real to integer.
#include <llvm/IR/Intrinsics.h>

#include <optional>

#include "ptx/forms.h"
#include "simt/arithmetic/floating_point/half.h"
#include "simt/arithmetic/floating_point/narrow_float.h"
#include "simt/arithmetic/floating_point/rounding.h"
#include "simt/arithmetic/floating_point/to_integer.h"
#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {
namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Type;
using ptx::TypeKind;
namespace I = llvm::Intrinsic;

bool is_scalar_integer(Type type) {
  TypeKind kind = ptx::kind_of(type);
  return (kind == TypeKind::unsigned_int || kind == TypeKind::signed_int) &&
         ptx::size_bits(type) >= 8 && !ptx::is_packed_integer(type);
}

bool is_real(Type type) { return type == Type::f32 || type == Type::f64 || is_half(type); }

// ---- Integer to integer.

uint64_t most_of(Type type) {
  unsigned bits = ptx::size_bits(type) - (ptx::is_signed(type) ? 1 : 0);
  return bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
}

/// Clamps an integer of type `from` to the range of `to`, in the width of `from`.
V clamp_integer(Lanes& l, V value, Type from, Type to) {
  unsigned width = ptx::size_bits(from), to_width = ptx::size_bits(to);
  bool from_signed = ptx::is_signed(from), to_signed = ptx::is_signed(to);
  if (from_signed && !to_signed) value = l.call(I::smax, value, l.zero(value));
  if (to_width < width || (to_width == width && to_signed && !from_signed)) {
    V most = l.constant(width, most_of(to));
    value = l.call(from_signed ? I::smin : I::umin, value, most);
  }
  if (from_signed && to_signed && to_width < width) {
    value = l.call(I::smax, value, l.constant(width, ~most_of(to)));
  }
  return value;
}

Values integer_to_integer(Lanes& l, const Instruction& in, std::span<V const> s) {
  Type to = in.type(0), from = in.type(1);
  V value = in.has(Modifier::sat) ? clamp_integer(l, s[0], from, to) : s[0];
  return {l.extend(value, ptx::size_bits(to), ptx::is_signed(from))};
}

// ---- From a number in f32 or f64 to any floating-point type.

/// Replaces infinities of a half by its largest finite numbers.
V finite_half(Lanes& l, Type type, V half) {
  auto& b = l.b;
  V infinity = l.constant(16, type == Type::f16 ? 0x7c00 : 0x7f80);
  V infinite = b.CreateICmpEQ(b.CreateAnd(half, l.constant(16, 0x7fff)), infinity);
  return l.select(infinite, b.CreateSub(half, l.constant(16, 1)), half);
}

/// Rounds `real`, which is either exact or rounded to odd, to the destination type.
V deliver(Lanes& l, const Instruction& in, Type to, V real, Round round) {
  if (in.has(Modifier::sat)) real = l.saturate(real);
  if (in.has(Modifier::relu)) {
    real = l.select(l.b.CreateFCmpOLE(real, l.zero(real)), l.zero(real), real);
  }
  if (to == Type::f64) return Lanes::is_f64(real) ? real : l.to_f64(real);
  if (to == Type::f32) {
    V narrowed = Lanes::is_f64(real) ? narrow(l, real, round) : real;
    return l.flush_if(in.has(Modifier::ftz), narrowed);
  }
  if (Lanes::is_f64(real)) real = narrow_to_odd(l, real);
  V half = f32_to_half(l, to, real, round);
  return in.has(Modifier::satfinite) ? finite_half(l, to, half) : half;
}

// ---- Integer to real.

/// Splits a 64-bit integer into two f64 whose sum it is.
std::pair<V, V> halves_of(Lanes& l, V value, bool is_signed) {
  auto& b = l.b;
  V half = l.constant(64, 32);
  V high = l.zext(is_signed ? b.CreateAShr(value, half) : b.CreateLShr(value, half), 32);
  V high_real = is_signed ? b.CreateSIToFP(high, l.f64()) : b.CreateUIToFP(high, l.f64());
  V low_real = b.CreateUIToFP(l.zext(value, 32), l.f64());
  return {b.CreateFMul(high_real, l.real64(0x1p32)), low_real};
}

Values integer_to_real(Lanes& l, const Instruction& in, std::span<V const> s) {
  auto& b = l.b;
  Type to = in.type(0), from = in.type(1);
  bool is_signed = ptx::is_signed(from);
  Round round = round_of(in);
  unsigned bits = ptx::size_bits(from);
  auto direct = [&](llvm::Type* type) {
    return is_signed ? b.CreateSIToFP(s[0], type) : b.CreateUIToFP(s[0], type);
  };
  // LLVM would take 64-bit lanes apart if the machine does not convert them.
  bool nearest =
      round == Round::rn && (bits < 64 || l.count() == 0 || l.machine().has_int64_conversions());
  V real = nullptr;
  if (bits <= 16) {
    real = direct(to == Type::f64 ? l.f64() : l.f32());  // exact
  } else if (nearest && (to == Type::f32 || to == Type::f64)) {
    real = direct(to == Type::f64 ? l.f64() : l.f32());
  } else if (bits == 32) {
    real = direct(l.f64());  // exact
  } else {
    auto [high, low] = halves_of(l, s[0], is_signed);
    real = to == Type::f64 ? rounded_add(l, high, low, round) : add_to_odd(l, high, low);
  }
  return {deliver(l, in, to, real, round)};
}

// ---- Real to real and to integer.

std::optional<Round> integral_round(const Instruction& in) {
  const auto direction = ptx::integral_rounding(in);
  return direction ? std::optional(round_of(*direction)) : std::nullopt;
}

/// The source as f32 or f64. By the ISA, .ftz applies to f32 only.
V source_of(Lanes& l, const Instruction& in, Type from, V value) {
  if (is_half(from)) return half_to_f32(l, from, value);
  return l.flush_if(in.has(Modifier::ftz), value);
}

/// The NaN of a half that has the sign and the upper payload of an f64 NaN, quieted.
V narrowed_nan(Lanes& l, Type half, V nan64) {
  auto& b = l.b;
  const unsigned fraction_bits = half == Type::f16 ? 10 : 7;
  const uint64_t quiet = uint64_t{1} << (fraction_bits - 1), fraction = 2 * quiet - 1;
  const uint64_t infinity = 0x7fff & ~fraction;
  V word = l.bits(nan64);
  V sign = b.CreateAnd(b.CreateLShr(word, l.constant(64, 48)), l.constant(64, 0x8000));
  V payload = b.CreateLShr(word, l.constant(64, 52 - fraction_bits));
  payload = b.CreateAnd(payload, l.constant(64, fraction));
  V magnitude = b.CreateOr(payload, l.constant(64, infinity | quiet));
  return b.CreateTrunc(b.CreateOr(sign, magnitude), l.integer(16));
}

Values real_to_real(Lanes& l, const Instruction& in, std::span<V const> s) {
  const Type to = in.type(0), from = in.type(1);
  V real = source_of(l, in, from, s[0]);
  // On GPUs the flush is an operation in f32, whose NaN results have fixed bits.
  if (in.has(Modifier::ftz) && from == Type::f32 && to == Type::f64) real = l.canonical_nan(real);
  V source = real;
  if (auto round = integral_round(in)) real = to_integral(l, real, *round);
  V result = deliver(l, in, to, real, round_of(in));
  if (from == Type::f64 && is_half(to) && !in.has(Modifier::sat)) {
    result = l.select(l.is_nan(source), narrowed_nan(l, to, source), result);
  }
  return {result};
}

Values real_to_integer(Lanes& l, const Instruction& in, std::span<V const> s) {
  Type to = in.type(0), from = in.type(1);
  V real = source_of(l, in, from, s[0]);
  IntegerTarget target{ptx::size_bits(to), ptx::is_signed(to), from == Type::f64};
  return {to_integer(l, real, target, integral_round(in).value_or(Round::rz))};
}

// ---- Two f32 to packed halves; the first goes to the upper half.

Values pack_halves(Lanes& l, const Instruction& in, std::span<V const> s) {
  Type half = element_of(in.type(0));
  V upper = l.zext(deliver(l, in, half, s[0], round_of(in)), 32);
  V lower = l.zext(deliver(l, in, half, s[1], round_of(in)), 32);
  return {l.b.CreateOr(l.b.CreateShl(upper, l.constant(32, 16)), lower)};
}

// ---- The same by random bits (.rs): each half of the last operand has those of one number.

/// The part of a half's random bits that f32 has beyond it.
struct StochasticHalf {
  unsigned random_bits, fraction;
  uint32_t bias_difference, infinity;
};

V stochastic_half(Lanes& l, const Instruction& in, Type half, V real, V random) {
  auto& b = l.b;
  const StochasticHalf format =
      half == Type::f16 ? StochasticHalf{13, 10, 112, 0x7c00} : StochasticHalf{16, 7, 0, 0x7f80};
  random = b.CreateAnd(random, l.constant(32, (uint32_t{1} << format.random_bits) - 1));
  V code = stochastic_magnitude(l, real, random, format.random_bits, format.fraction,
                                format.bias_difference);
  const uint32_t most = format.infinity - (in.has(Modifier::satfinite) ? 1 : 0);
  code = l.call(I::umin, code, l.constant(32, most));
  V sign = b.CreateAnd(b.CreateLShr(l.bits(real), l.constant(32, 16)), l.constant(32, 0x8000));
  if (in.has(Modifier::relu)) {
    code = l.select(b.CreateICmpEQ(sign, l.zero(sign)), code, l.zero(code));
  } else {
    code = b.CreateOr(code, sign);
  }
  return l.select(l.is_nan(real), l.constant(32, kNan16), code);
}

Values pack_halves_stochastic(Lanes& l, const Instruction& in, std::span<V const> s) {
  auto& b = l.b;
  const Type half = element_of(in.type(0));
  V upper = stochastic_half(l, in, half, s[0], b.CreateLShr(s[2], l.constant(32, 16)));
  V lower = stochastic_half(l, in, half, s[1], s[2]);
  return {b.CreateOr(b.CreateShl(upper, l.constant(32, 16)), lower)};
}

// ---- tf32: an f32 with 10 fraction bits; the others are zero.

Values to_tf32(Lanes& l, const Instruction& in, std::span<V const> s) {
  auto& b = l.b;
  V real = s[0];
  if (in.has(Modifier::relu)) {
    real = l.select(b.CreateFCmpOLE(real, l.zero(real)), l.zero(real), real);
  }
  V word = l.bits(real), carry = l.constant(32, 0);
  if (in.has(Modifier::rna)) carry = l.constant(32, 0x1000);
  if (in.has(Modifier::rn)) {
    V odd = b.CreateAnd(b.CreateLShr(word, l.constant(32, 13)), l.constant(32, 1));
    carry = b.CreateAdd(odd, l.constant(32, 0xfff));
  }
  V kept = b.CreateAnd(b.CreateAdd(word, carry), l.constant(32, 0xffffe000));
  if (in.has(Modifier::satfinite)) {
    V magnitude = b.CreateAnd(kept, l.constant(32, 0x7fffffff));
    V infinite = b.CreateICmpEQ(magnitude, l.constant(32, 0x7f800000));
    kept = l.select(infinite, b.CreateSub(kept, l.constant(32, 0x2000)), kept);
  }
  return {l.select(l.is_nan(real), l.constant(32, kNan32), kept)};
}

// ---- cvt.pack: b, a and the upper bits of c, from the lowest bit on.

Values pack_integers(Lanes& l, const Instruction& in, std::span<V const> s) {
  auto& b = l.b;
  Type to = in.type(0);
  unsigned bits = ptx::size_bits(to);
  auto part = [&](V value) {
    V clamped = clamp_integer(l, value, Type::s32, to);
    return b.CreateAnd(clamped, l.constant(32, (uint64_t{1} << bits) - 1));
  };
  V packed = b.CreateOr(b.CreateShl(part(s[0]), l.constant(32, bits)), part(s[1]));
  if (s.size() < 3) return {packed};
  return {b.CreateOr(b.CreateShl(s[2], l.constant(32, 2 * bits)), packed)};
}

}  // namespace

Handler find_convert(const Instruction& in) {
  if (in.type_count < 2) return nullptr;
  Type to = in.type(0), from = in.type(1);
  if (in.has(Modifier::rs)) return pack_halves_stochastic;
  if (in.has(Modifier::pack)) return pack_integers;
  if (to == Type::tf32 && from == Type::f32) return to_tf32;
  if (is_packed_half(to) && from == Type::f32) return pack_halves;
  if (is_scalar_integer(to) && is_scalar_integer(from)) return integer_to_integer;
  if (is_scalar_integer(to) && is_real(from)) return real_to_integer;
  if (is_real(to) && is_scalar_integer(from)) return integer_to_real;
  if (is_real(to) && is_real(from)) return real_to_real;
  return nullptr;
}

}  // namespace km::simt::arithmetic
