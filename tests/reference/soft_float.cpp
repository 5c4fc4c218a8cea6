#include "reference/soft_float.h"

#include <algorithm>
#include <bit>

namespace km::reference {
namespace {

using Kind = Number::Kind;

// Operands of an addition have their highest bit here: far enough up that products of two f64
// (106 bits) lose nothing that a cancellation could bring back.
constexpr int kTop = 125;

Number nan() { return {Kind::nan}; }
Number zero(bool negative) { return {Kind::zero, negative}; }
Number infinity(bool negative) { return {Kind::infinite, negative}; }

Bits mask_of(unsigned bits) { return (Bits{1} << bits) - 1; }

/// Shifts right; what falls out makes the number sticky.
void shift_right(Number& number, int count) {
  if (count <= 0) return;
  if (count > 127) {
    number.sticky = number.sticky || number.significand != 0;
    number.significand = 0;
  } else {
    number.sticky = number.sticky || (number.significand & mask_of(count)) != 0;
    number.significand >>= count;
  }
  number.exponent += count;
}

void move_top_to(Number& number, int position) {
  const int top = highest_bit(number.significand);
  if (top > position) return shift_right(number, top - position);
  number.significand <<= position - top;
  number.exponent -= position - top;
}

/// Rounds so that the last place weighs 2^exponent; the significand may become zero.
void round_at(Number& number, int exponent, Round round) {
  if (number.exponent >= exponent) {
    number.significand <<= number.exponent - exponent;
    number.exponent = exponent;
    return;
  }
  shift_right(number, exponent - number.exponent - 1);
  const bool half = (number.significand & 1) != 0, rest = number.sticky;
  number.significand >>= 1;
  number.exponent = exponent;
  number.sticky = false;
  const bool odd = (number.significand & 1) != 0;
  if (rounds_up(round, number.negative, odd, half, rest)) ++number.significand;
}

uint64_t with_sign(const Format& format, uint64_t magnitude, bool negative) {
  return magnitude << format.low_zeros | (negative ? sign_bit(format) : 0);
}

uint64_t encode_infinity(const Format& format, bool negative, bool finite_only) {
  if (finite_only) return with_sign(format, largest_finite(format), negative);
  if (!format.has_infinity) return format.canonical_nan;
  return with_sign(format, largest_finite(format) + 1, negative);
}

bool overflows_to_infinity(Round round, bool negative) {
  if (round == Round::rz) return false;
  if (round == Round::rm) return negative;
  return round != Round::rp || !negative;
}

uint64_t exponent_mask(const Format& format) {
  return static_cast<uint64_t>(mask_of(format.exponent_bits));
}

uint64_t exponent_field(const Format& format, uint64_t bits) {
  return bits >> (format.fraction_bits + format.low_zeros) & exponent_mask(format);
}

uint64_t fraction_field(const Format& format, uint64_t bits) {
  return bits >> format.low_zeros & static_cast<uint64_t>(mask_of(format.fraction_bits));
}

/// |a| < |b| of finite numbers that are not zero.
bool magnitude_less(Number a, Number b) {
  move_top_to(a, kTop);
  move_top_to(b, kTop);
  return a.exponent != b.exponent ? a.exponent < b.exponent : a.significand < b.significand;
}

/// |a| + |b| or |a| - |b| with the sign of a, for |a| >= |b| > 0.
Number combine(Number a, Number b, bool subtract) {
  move_top_to(a, kTop);
  move_top_to(b, kTop);
  shift_right(b, a.exponent - b.exponent);
  if (!subtract) {
    a.significand += b.significand;
    a.sticky = a.sticky || b.sticky;
  } else {
    a.significand -= b.significand;
    if (b.sticky) --a.significand;  // one unit less, and a part of it more
    a.sticky = b.sticky;
  }
  if (a.significand == 0 && !a.sticky) return zero(a.negative);
  return a;
}

}  // namespace

uint64_t largest_finite(const Format& format) {
  const uint64_t ones = static_cast<uint64_t>(mask_of(format.exponent_bits + format.fraction_bits));
  const uint64_t infinity = static_cast<uint64_t>(mask_of(format.exponent_bits))
                            << format.fraction_bits;
  return (format.has_infinity ? infinity : ones) - (format.has_nan ? 1 : 0);
}

int highest_bit(Bits value) {
  const auto high = static_cast<uint64_t>(value >> 64);
  if (high != 0) return 127 - std::countl_zero(high);
  return 63 - std::countl_zero(static_cast<uint64_t>(value));
}

uint64_t sign_bit(const Format& format) { return uint64_t{1} << (format.width - 1); }

bool is_nan(const Format& format, uint64_t bits) {
  if (!format.has_nan) return false;
  if (!format.has_infinity) return (bits & (sign_bit(format) - 1)) == sign_bit(format) - 1;
  return exponent_field(format, bits) == exponent_mask(format) && !is_infinite(format, bits);
}

uint64_t quiet_nan(const Format& to, const Format& from, uint64_t bits) {
  const uint64_t fraction = bits & ((uint64_t{1} << from.fraction_bits) - 1);
  const uint64_t payload = to.fraction_bits >= from.fraction_bits
                               ? fraction << (to.fraction_bits - from.fraction_bits)
                               : fraction >> (from.fraction_bits - to.fraction_bits);
  const uint64_t infinity = ((uint64_t{1} << to.exponent_bits) - 1) << to.fraction_bits;
  const uint64_t quiet = uint64_t{1} << (to.fraction_bits - 1);
  const uint64_t sign = (bits & sign_bit(from)) != 0 ? sign_bit(to) : 0;
  return sign | infinity | quiet | payload;
}

bool is_infinite(const Format& format, uint64_t bits) {
  if (!format.has_infinity) return false;
  const uint64_t magnitude = bits & (sign_bit(format) - 1);
  return magnitude == exponent_mask(format) << (format.fraction_bits + format.low_zeros);
}

bool is_subnormal(const Format& format, uint64_t bits) {
  return exponent_field(format, bits) == 0 && fraction_field(format, bits) != 0;
}

uint64_t flush(const Format& format, uint64_t bits) {
  return is_subnormal(format, bits) ? bits & sign_bit(format) : bits;
}

Number decode(const Format& format, uint64_t bits) {
  const bool negative = (bits & sign_bit(format)) != 0;
  if (is_nan(format, bits)) return nan();
  if (is_infinite(format, bits)) return infinity(negative);
  const uint64_t exponent = exponent_field(format, bits);
  Bits significand = fraction_field(format, bits);
  if (exponent == 0 && significand == 0) return zero(negative);
  if (exponent != 0) significand |= Bits{1} << format.fraction_bits;
  const int weight = static_cast<int>(exponent == 0 ? 1 : exponent) - 1;
  return {Kind::finite, negative, false, format.least_exponent() + weight, significand};
}

uint64_t encode(const Format& format, Number number, Round round, bool finite_only) {
  if (number.is_nan()) return format.canonical_nan;
  if (number.is_zero()) return with_sign(format, 0, number.negative);
  if (number.is_infinite()) return encode_infinity(format, number.negative, finite_only);
  const int precision = static_cast<int>(format.fraction_bits) + 1;
  int last = format.least_exponent();
  if (number.significand != 0) {
    move_top_to(number, kTop);
    const int wanted = number.exponent + kTop - precision + 1;
    if (wanted > last) last = wanted;
  }
  round_at(number, last, round);
  if (number.significand >> precision != 0) {  // a carry into a new place: the low bit is zero
    number.significand >>= 1;
    ++number.exponent;
  }
  // The leading one of normal numbers adds the 1 that their exponent field is larger by.
  const Bits field = static_cast<Bits>(number.exponent - format.least_exponent());
  const Bits magnitude = (field << format.fraction_bits) + number.significand;
  if (magnitude > largest_finite(format)) {
    if (!finite_only && overflows_to_infinity(round, number.negative)) {
      return encode_infinity(format, number.negative, false);
    }
    return with_sign(format, largest_finite(format), number.negative);
  }
  return with_sign(format, static_cast<uint64_t>(magnitude), number.negative);
}

Number negated(Number a) {
  a.negative = !a.negative;
  return a;
}

Number from_integer(bool negative, Bits magnitude) {
  if (magnitude == 0) return zero(false);
  return {Kind::finite, negative, false, 0, magnitude};
}

Number add(const Number& a, const Number& b, Round round) {
  if (a.is_nan() || b.is_nan()) return nan();
  if (a.is_infinite() && b.is_infinite()) return a.negative == b.negative ? a : nan();
  if (a.is_infinite()) return a;
  if (b.is_infinite()) return b;
  if (a.is_zero() && b.is_zero()) {
    return a.negative == b.negative ? a : zero(round == Round::rm);
  }
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const bool swap = magnitude_less(a, b), subtract = a.negative != b.negative;
  const Number result = swap ? combine(b, a, subtract) : combine(a, b, subtract);
  return result.is_zero() ? zero(round == Round::rm) : result;
}

Number multiply(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  if (a.is_nan() || b.is_nan()) return nan();
  if (a.is_infinite() || b.is_infinite()) {
    return a.is_zero() || b.is_zero() ? nan() : infinity(negative);
  }
  if (a.is_zero() || b.is_zero()) return zero(negative);
  return {Kind::finite, negative, false, a.exponent + b.exponent, a.significand * b.significand};
}

Number divide(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  if (a.is_nan() || b.is_nan()) return nan();
  if (a.is_infinite()) return b.is_infinite() ? nan() : infinity(negative);
  if (b.is_infinite()) return zero(negative);
  if (b.is_zero()) return a.is_zero() ? nan() : infinity(negative);
  if (a.is_zero()) return zero(negative);
  Number dividend = a;
  move_top_to(dividend, kTop);  // the divisor has 53 bits: 72 of the quotient are left
  return {Kind::finite, negative, dividend.significand % b.significand != 0,
          dividend.exponent - b.exponent, dividend.significand / b.significand};
}

Number square_root(const Number& a) {
  if (a.is_nan() || a.is_zero()) return a;
  if (a.negative) return nan();
  if (a.is_infinite()) return a;
  Number source = a;
  move_top_to(source, kTop - 1);
  if (source.exponent % 2 != 0) {
    source.significand <<= 1;
    --source.exponent;
  }
  Bits root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const Bits next = root | Bits{1} << bit;
    if (next * next <= source.significand) root = next;
  }
  return {Kind::finite, false, root * root != source.significand, source.exponent / 2, root};
}

Number round_stochastic(const Format& format, const Number& a, uint64_t random,
                        unsigned random_bits) {
  if (a.kind != Kind::finite) return a;
  Number result = a;
  move_top_to(result, kTop);
  const int precision = static_cast<int>(format.fraction_bits) + 1;
  const int last = std::max(format.least_exponent(), result.exponent + kTop - precision + 1);
  shift_right(result, last - static_cast<int>(random_bits) - result.exponent);
  const Bits rounded = (result.significand + random) >> random_bits;
  if (rounded == 0) return zero(a.negative);
  return {Kind::finite, a.negative, false, last, rounded};
}

Number round_to_integral(const Number& a, Round round) {
  if (a.kind != Kind::finite || a.exponent >= 0) return a;
  Number result = a;
  round_at(result, 0, round);
  return result.significand == 0 ? zero(a.negative) : result;
}

std::partial_ordering compare(const Number& a, const Number& b) {
  if (a.is_nan() || b.is_nan()) return std::partial_ordering::unordered;
  if (a.is_zero() && b.is_zero()) return std::partial_ordering::equivalent;
  const auto sign_of = [](const Number& n) { return n.is_zero() ? 0 : n.negative ? -1 : 1; };
  if (sign_of(a) != sign_of(b)) return sign_of(a) <=> sign_of(b);
  if (a.is_infinite() || b.is_infinite()) {
    if (a.is_infinite() && b.is_infinite()) return std::partial_ordering::equivalent;
    return a.is_infinite() == a.negative ? std::partial_ordering::less
                                         : std::partial_ordering::greater;
  }
  if (magnitude_less(a, b) == magnitude_less(b, a)) return std::partial_ordering::equivalent;
  return magnitude_less(a, b) != a.negative ? std::partial_ordering::less
                                            : std::partial_ordering::greater;
}

}  // namespace km::reference
