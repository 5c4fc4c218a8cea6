// cvt in all its forms. The rules where PTX leaves room: NaN becomes 0 in narrow integers of narrow
// sources, else the highest bit alone; .ftz concerns f32 only. Conversions from and to f64 hand a
// NaN's sign and payload on, as tests/gpu found.
#include <algorithm>

#include "reference/evaluate.h"
#include "reference/values.h"

namespace km::reference {

bool rounds_to_integral(const Instruction& in) {
  return in.has(Modifier::rni) || in.has(Modifier::rzi) || in.has(Modifier::rmi) ||
         in.has(Modifier::rpi);
}

std::optional<uint64_t> passed_nan(const Instruction& in, uint64_t bits) {
  const Type to = in.type(0), from = in.type(1);
  if (in.has(Modifier::sat)) return std::nullopt;
  const bool moves = !in.has(Modifier::ftz) && !rounds_to_integral(in);
  if (to == Type::f64 && from == Type::f64 && moves) return bits;
  if (to == Type::f32 && from == Type::f32 && moves) return bits;
  if (to == Type::f32 && from == Type::bf16) return bits << 16;
  const bool is_flushed = in.has(Modifier::ftz) && from == Type::f32;  // by an operation in f32
  if (to == Type::f64) {
    return quiet_nan(kF64, *format_of(from), is_flushed ? kF32.canonical_nan : bits);
  }
  if (from == Type::f64 && (to == Type::f32 || to == Type::f16 || to == Type::bf16)) {
    return quiet_nan(*format_of(to), kF64, bits);
  }
  return std::nullopt;
}

Bits integer_of_nan(Type to, Type from) {
  const unsigned bits = ptx::size_bits(to);
  const bool zero = from != Type::f64 && bits < 64;
  return zero ? Bits{0} : Bits{1} << (bits - 1);
}

namespace {

/// A source in floating point.
Number source_of(const Instruction& in, Type type, Bits raw) {
  const Format& format = *format_of(type);
  auto bits = static_cast<uint64_t>(raw);
  if (in.has(Modifier::ftz) && element_of(type) == Type::f32) bits = flush(format, bits);
  return decode(format, bits);
}

/// Rounds to the target's format and clamps.
uint64_t deliver(const Instruction& in, Type type, Number number) {
  const bool below = number.negative || number.is_zero();
  if (in.has(Modifier::relu) && below && !number.is_nan()) number = {};
  const Format& format = *format_of(type);
  uint64_t bits = encode(format, number, round_of(in), in.has(Modifier::satfinite));
  if (in.has(Modifier::sat)) bits = saturate(format, bits);
  return in.has(Modifier::ftz) && type == Type::f32 ? flush(format, bits) : bits;
}

Outcome integer_to_integer(const Arguments& a) {
  const Type to = a.in.type(0), from = a.in.type(1);
  SignedBits value = extend(a.s[0], ptx::size_bits(from), ptx::is_signed(from));
  if (a.in.has(Modifier::sat)) value = clamp_to(value, ptx::size_bits(to), ptx::is_signed(to));
  return {static_cast<Bits>(value)};
}

Outcome integer_to_real(const Arguments& a) {
  const Type from = a.in.type(1);
  const SignedBits value = extend(a.s[0], ptx::size_bits(from), ptx::is_signed(from));
  const auto magnitude = static_cast<Bits>(value < 0 ? -value : value);
  return {deliver(a.in, a.in.type(0), from_integer(value < 0, magnitude))};
}

Outcome real_to_real(const Arguments& a) {
  const auto bits = static_cast<uint64_t>(a.s[0]);
  if (is_nan(*format_of(a.in.type(1)), bits)) {
    if (const auto nan = passed_nan(a.in, bits)) return {*nan};
  }
  Number number = source_of(a.in, a.in.type(1), a.s[0]);
  if (rounds_to_integral(a.in)) number = round_to_integral(number, round_of(a.in));
  return {deliver(a.in, a.in.type(0), number)};
}

Outcome real_to_integer(const Arguments& a) {
  const Type to = a.in.type(0), from = a.in.type(1);
  const Number number = round_to_integral(source_of(a.in, from, a.s[0]), round_of(a.in));
  const unsigned bits = ptx::size_bits(to);
  if (number.is_nan()) return {integer_of_nan(to, from)};
  if (number.is_zero()) return {0};
  const bool beyond =
      number.is_infinite() || number.exponent + highest_bit(number.significand) > 100;
  Bits magnitude = Bits{1} << 100;
  if (!beyond) {
    magnitude = number.exponent < 0 ? number.significand >> -number.exponent
                                    : number.significand << number.exponent;
  }
  const auto value = static_cast<SignedBits>(magnitude);
  return {static_cast<Bits>(clamp_to(number.negative ? -value : value, bits, ptx::is_signed(to)))};
}

/// The bits that each element of a packed type takes.
unsigned place_bits(Type type) { return ptx::size_bits(type) / element_count(type); }

/// Two f32 to a pair of a narrower format; the first goes to the upper half.
Outcome pack_pair(const Arguments& a) {
  const Type part = element_of(a.in.type(0));
  const unsigned bits = place_bits(a.in.type(0));
  const Number upper = source_of(a.in, Type::f32, a.s[0]),
               lower = source_of(a.in, Type::f32, a.s[1]);
  return {Bits{deliver(a.in, part, upper)} << bits | deliver(a.in, part, lower)};
}

/// A pair to a pair of another format.
Outcome convert_pair(const Arguments& a) {
  const Type to = element_of(a.in.type(0)), from = element_of(a.in.type(1));
  const unsigned to_bits = place_bits(a.in.type(0)), from_bits = place_bits(a.in.type(1));
  Bits result = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const Bits part = truncate(a.s[0] >> (i * from_bits), from_bits);
    result |= Bits{deliver(a.in, to, source_of(a.in, from, part))} << (i * to_bits);
  }
  return {result};
}

/// One number by random bits.
uint64_t deliver_random(const Instruction& in, Type type, Bits raw, uint64_t random,
                        unsigned random_bits) {
  const Format& format = *format_of(type);
  return deliver(in, type,
                 round_stochastic(format, source_of(in, Type::f32, raw), random, random_bits));
}

/// Two f32 to halves. f16 lacks 13 bits of f32, bf16 lacks 16: so many of each half are random
/// bits.
Outcome pack_random_pair(const Arguments& a) {
  const Type part = element_of(a.in.type(0));
  const unsigned random_bits = kF32.fraction_bits - format_of(part)->fraction_bits;
  const auto one = [&](unsigned i, Bits random) {
    const auto bits = static_cast<uint64_t>(truncate(random, random_bits));
    return Bits{deliver_random(a.in, part, a.s[i], bits, random_bits)};
  };
  return {one(0, a.s[2] >> 16) << 16 | one(1, a.s[2])};
}

uint64_t mirrored(uint64_t bits) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 16; ++i) result |= (bits >> i & 1) << (15 - i);
  return result;
}

/// Four f32, the first to the highest place. A pair shares 16 random bits, which its first number
/// reads from the last to the first: of bytes the pair's half of the operand, of fours the pair's
/// byte of both halves.
Outcome pack_random_four(const Arguments& a) {
  const Type part = element_of(a.in.type(0));
  const unsigned bits = place_bits(a.in.type(0));
  const auto word = static_cast<uint64_t>(a.s[4]);
  Bits result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned pair = 1 - i / 2;  // the upper one first
    uint64_t random = word >> (16 * pair) & 0xffff;
    if (bits == 4) random = (word >> (8 * pair) & 0xff) | (word >> (16 + 8 * pair) & 0xff) << 8;
    if (i % 2 == 0) random = mirrored(random);
    result = result << bits | deliver_random(a.in, part, a.s[i], random, 16);
  }
  return {result};
}

/// The exponent of a power of two near the magnitude, plus 127.
uint64_t scale_of(const Instruction& in, const Number& number) {
  constexpr uint64_t kNan = 0xff;
  constexpr int kLeast = -127;
  const uint64_t beyond = in.has(Modifier::satfinite) ? kNan - 1 : kNan;
  if (number.is_nan()) return kNan;
  if (number.is_infinite()) return beyond;
  if (number.is_zero()) return 0;
  int power = number.exponent + highest_bit(number.significand);
  const bool is_power = (number.significand & (number.significand - 1)) == 0;
  if (in.has(Modifier::rp) && !is_power) ++power;
  const int code = std::max(power, kLeast) - kLeast;
  return code >= static_cast<int>(kNan) ? beyond : static_cast<uint64_t>(code);
}

Outcome pack_scales(const Arguments& a) {
  const Type from = element_of(a.in.type(1));
  const bool is_pair = is_packed(a.in.type(1));
  const Number upper = source_of(a.in, from, is_pair ? a.s[0] >> 16 : a.s[0]);
  const Number lower = source_of(a.in, from, is_pair ? truncate(a.s[0], 16) : a.s[1]);
  return {scale_of(a.in, upper) << 8 | scale_of(a.in, lower)};
}

Outcome unpack_scales(const Arguments& a) {
  Bits result = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const auto code = static_cast<int>(truncate(a.s[0] >> (8 * i), 8));
    Number power = from_integer(false, 1);
    power.exponent = code - 127;
    if (code == 0xff) power.kind = Number::Kind::nan;
    result |= Bits{encode(kBf16, power, Round::rn)} << (16 * i);
  }
  return {result};
}

/// cvt.pack: c's upper bits, a, b.
Outcome pack_integers(const Arguments& a) {
  const Type to = a.in.type(0);
  const unsigned bits = ptx::size_bits(to);
  const auto part = [&](Bits raw) {
    const SignedBits value = clamp_to(sign_extend(raw, 32), bits, ptx::is_signed(to));
    return truncate(static_cast<Bits>(value), bits);
  };
  Bits result = part(a.s[0]) << bits | part(a.s[1]);
  if (a.s.size() > 2) result |= a.s[2] << (2 * bits);
  return {result};
}

}  // namespace

Handler find_convert(const Instruction& in) {
  if (in.opcode != Opcode::cvt || in.type_count < 2) return nullptr;
  const Type to = in.type(0), from = in.type(1);
  if (in.has(Modifier::rs)) return element_count(to) == 4 ? pack_random_four : pack_random_pair;
  if (to == Type::ue8m0x2) return pack_scales;
  if (from == Type::ue8m0x2) return unpack_scales;
  if (in.has(Modifier::pack)) return pack_integers;
  if (is_plain_integer(to) && is_plain_integer(from)) return integer_to_integer;
  const Format *to_format = format_of(to), *from_format = format_of(from);
  if (is_packed(to)) {
    if (to_format == nullptr || from_format == nullptr) return nullptr;
    return from == Type::f32 ? pack_pair : convert_pair;
  }
  if (is_plain_integer(to)) return from_format ? real_to_integer : nullptr;
  if (to_format == nullptr) return nullptr;
  if (is_plain_integer(from)) return integer_to_real;
  return from_format ? real_to_real : nullptr;
}

}  // namespace km::reference
