// Floating point in integers: every operation is exact up to one rounding at the end. Plain on
// purpose; nothing here uses the host's own floating point.
#pragma once

#include <compare>
#include <cstdint>

namespace km::reference {

__extension__ using Bits = unsigned __int128;
__extension__ using SignedBits = __int128;

enum class Round : uint8_t { rn, rz, rm, rp, rna };

/// A binary format of sign, exponent and fraction, in the low `width` bits.
struct Format {
  unsigned exponent_bits = 0, fraction_bits = 0, width = 0;
  unsigned low_zeros = 0;      // bits below the fraction that are always zero (tf32)
  bool has_infinity = true;    // e4m3 has none, and only one NaN
  uint64_t canonical_nan = 0;  // what an operation without a numeric result gives
  bool has_nan = true;         // formats of 4 and 6 bits have none

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// The weight of the last place of subnormals.
  int least_exponent() const { return 1 - bias() - static_cast<int>(fraction_bits); }
};

inline constexpr Format kF16{5, 10, 16, 0, true, 0x7fff};
inline constexpr Format kBf16{8, 7, 16, 0, true, 0x7fff};
inline constexpr Format kF32{8, 23, 32, 0, true, 0x7fffffff};
inline constexpr Format kF64{11, 52, 64, 0, true, 0xfff8000000000000};
inline constexpr Format kTf32{8, 10, 32, 13, true, 0x7fffffff};
inline constexpr Format kE4m3{4, 3, 8, 0, false, 0x7f};
inline constexpr Format kE5m2{5, 2, 8, 0, true, 0x7f};
inline constexpr Format kE2m3{2, 3, 6, 0, false, 0x1f, false};
inline constexpr Format kE3m2{3, 2, 6, 0, false, 0x1f, false};
inline constexpr Format kE2m1{2, 1, 4, 0, false, 0x7, false};

/// significand * 2^exponent, and less than one unit more where `sticky`.
struct Number {
  enum class Kind : uint8_t { zero, finite, infinite, nan };
  Kind kind = Kind::zero;
  bool negative = false;
  bool sticky = false;
  int exponent = 0;
  Bits significand = 0;

  bool is_nan() const { return kind == Kind::nan; }
  bool is_zero() const { return kind == Kind::zero; }
  bool is_infinite() const { return kind == Kind::infinite; }
};

/// Whether the magnitude goes one up, for a remainder below one unit as a fraction: `half` is its
/// first bit, `rest` whether anything follows.
constexpr bool rounds_up(Round round, bool negative, bool odd, bool half, bool rest) {
  switch (round) {
    case Round::rn:
      return half && (rest || odd);
    case Round::rna:
      return half;
    case Round::rz:
      return false;
    case Round::rm:
      return negative && (half || rest);
    case Round::rp:
      return !negative && (half || rest);
  }
  return false;
}

Number decode(const Format& format, uint64_t bits);
/// The number rounded; with `finite_only` what is too large becomes the largest finite number.
uint64_t encode(const Format& format, Number number, Round round, bool finite_only = false);

Number add(const Number& a, const Number& b, Round round);
Number multiply(const Number& a, const Number& b);
Number divide(const Number& a, const Number& b);
Number square_root(const Number& a);
/// To the format's precision: `random`, of `random_bits` bits, is added right below the last place
/// and the sum is truncated. What the format cannot hold stays too large.
Number round_stochastic(const Format& format, const Number& a, uint64_t random,
                        unsigned random_bits);
/// To an integral value; zeros keep their sign.
Number round_to_integral(const Number& a, Round round);

std::partial_ordering compare(const Number& a, const Number& b);

Number from_integer(bool negative, Bits magnitude);
Number negated(Number a);

// On encodings.
bool is_nan(const Format& format, uint64_t bits);
/// The NaN of `to` with the sign of a NaN of `from` and as much of its payload as fits, made quiet.
uint64_t quiet_nan(const Format& to, const Format& from, uint64_t bits);
bool is_subnormal(const Format& format, uint64_t bits);
bool is_infinite(const Format& format, uint64_t bits);
uint64_t sign_bit(const Format& format);
/// The largest finite magnitude, without the format's low zeros.
uint64_t largest_finite(const Format& format);
/// Subnormals to zeros of their sign.
uint64_t flush(const Format& format, uint64_t bits);

/// Position of the highest set bit; `value` is not zero.
int highest_bit(Bits value);

}  // namespace km::reference
