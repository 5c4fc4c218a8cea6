#include "harness/mma_reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace km::kernels {

namespace {

constexpr uint32_t kLanes = 32;

enum class Kind { finite, infinite, nan };

/// (-1)^negative * significand * 2^(exponent - fraction_bits).
struct Real {
  Kind kind = Kind::finite;
  bool negative = false;
  uint64_t significand = 0;
  int exponent = 0, fraction_bits = 0;
};

Real decode(Number number, uint64_t bits) {
  const Traits traits = traits_of(number);
  if (number == Number::tf32) bits = bits >> 13 & 0x7ffff;
  const int fraction_bits = static_cast<int>(traits.fraction_bits);
  const uint64_t most = (uint64_t{1} << traits.exponent_bits) - 1;
  const uint64_t fraction = bits & ((uint64_t{1} << fraction_bits) - 1);
  const uint64_t field = bits >> fraction_bits & most;
  Real real;
  real.negative = bits >> (traits.exponent_bits + traits.fraction_bits) & 1;
  real.fraction_bits = fraction_bits;
  const int bias = static_cast<int>(most >> 1);
  real.exponent = static_cast<int>(std::max<uint64_t>(field, 1)) - bias;
  real.significand = field == 0 ? fraction : fraction | uint64_t{1} << fraction_bits;
  if (number == Number::e4m3) {
    if (field == most && fraction == 7) real.kind = Kind::nan;
  } else if (field == most) {
    real.kind = fraction != 0 ? Kind::nan : Kind::infinite;
  }
  return real;
}

uint64_t shifted(uint64_t value, int left) {
  if (left >= 0) return value << left;
  return left <= -64 ? 0 : value >> -left;
}

/// magnitude * 2^unit as a float of `fraction_bits`, toward zero or to nearest even.
double rounded(uint64_t magnitude, int unit, int fraction_bits, int lowest, bool nearest) {
  if (magnitude == 0) return 0;
  const int exponent = unit + 63 - std::countl_zero(magnitude);
  const int last = std::max(exponent, lowest) - fraction_bits;  // exponent of the last bit
  uint64_t kept = shifted(magnitude, unit - last);
  if (nearest && last > unit) {
    const uint64_t rest = magnitude - (last - unit >= 64 ? 0 : kept << (last - unit));
    const uint64_t half = last - unit > 64 ? UINT64_MAX : uint64_t{1} << (last - unit - 1);
    if (rest > half || (rest == half && (kept & 1))) ++kept;
  }
  return std::ldexp(static_cast<double>(kept), last);
}

uint64_t encode(Number number, bool negative, double magnitude) {
  if (number == Number::f32) {
    const float value = magnitude >= 0x1p128 ? HUGE_VALF : static_cast<float>(magnitude);
    return std::bit_cast<uint32_t>(value) | uint32_t{negative} << 31;
  }
  if (magnitude >= 65536) return 0x7c00u | uint32_t{negative} << 15;
  if (magnitude < 0x1p-14)
    return static_cast<uint32_t>(magnitude * 0x1p24) | uint32_t{negative} << 15;
  int exponent = 0;
  const double half = std::frexp(magnitude, &exponent);  // in [0.5, 1)
  const auto fraction = static_cast<uint32_t>(std::ldexp(half, 11)) - 1024;
  return (static_cast<uint32_t>(exponent - 1 + 15) << 10 | fraction) | uint32_t{negative} << 15;
}

uint64_t nan_of(Number number) { return number == Number::f32 ? 0x7fffffff : 0x7fff; }
uint64_t infinity_of(Number number, bool negative) {
  return encode(number, negative, std::numeric_limits<double>::infinity());
}

Real product(const Real& a, const Real& b) {
  Real result;
  result.negative = a.negative != b.negative;
  result.significand = a.significand * b.significand;
  result.exponent = a.exponent + b.exponent;
  result.fraction_bits = a.fraction_bits + b.fraction_bits;
  const bool infinite = a.kind == Kind::infinite || b.kind == Kind::infinite;
  if (infinite) result.kind = Kind::infinite;
  const bool zero = (a.kind == Kind::finite && a.significand == 0) ||
                    (b.kind == Kind::finite && b.significand == 0);
  if (a.kind == Kind::nan || b.kind == Kind::nan || (infinite && zero)) result.kind = Kind::nan;
  return result;
}

/// Terms aligned to the largest exponent and cut there; the sum as bits of `number`.
uint64_t sum_of(const Rule& rule, Number number, const std::vector<Real>& terms) {
  bool plus = false, minus = false;
  int top = -126;
  for (const Real& term : terms) {
    if (term.kind == Kind::nan) return nan_of(number);
    if (term.kind == Kind::infinite) (term.negative ? minus : plus) = true;
    if (term.significand != 0) top = std::max(top, term.exponent);
  }
  if (plus && minus) return nan_of(number);
  if (plus || minus) return infinity_of(number, minus);
  const int unit = top - rule.fraction_bits;
  int64_t sum = 0;
  for (const Real& term : terms) {
    const int left = term.exponent - term.fraction_bits - unit;
    const auto cut = static_cast<int64_t>(shifted(term.significand, left));
    sum += term.negative ? -cut : cut;
  }
  const bool negative = sum < 0;
  const auto magnitude = static_cast<uint64_t>(negative ? -sum : sum);
  const double value = number == Number::f16
                           ? rounded(magnitude, unit, 10, -14, true)
                           : rounded(magnitude, unit, rule.short_result ? 13 : 23, -126, false);
  return encode(number, negative, value);
}

/// To nearest even.
uint64_t f16_of(const Real& real) {
  if (real.kind == Kind::nan) return nan_of(Number::f16);
  if (real.kind == Kind::infinite) return infinity_of(Number::f16, real.negative);
  const int unit = real.exponent - real.fraction_bits;
  return encode(Number::f16, real.negative, rounded(real.significand, unit, 10, -14, true));
}

uint64_t real_element(const MmaCase& test, const Rule& rule, std::vector<Real> products,
                      uint64_t c) {
  // D of another type than C: the sum is an f32 that is rounded at the end.
  const Number sums = test.c == Number::f16 && test.d == Number::f16 ? Number::f16 : Number::f32;
  Real start = decode(test.c, c);
  if (sums == Number::f32 && test.c == Number::f16 && start.kind == Kind::finite) {
    const double value =
        std::ldexp(static_cast<double>(start.significand), start.exponent - start.fraction_bits);
    start = decode(Number::f32, encode(Number::f32, start.negative, value));
  }
  uint64_t bits = 0;
  for (size_t first = 0; first < products.size(); first += rule.terms) {
    const size_t last = std::min(products.size(), first + rule.terms);
    std::vector<Real> terms(products.begin() + static_cast<std::ptrdiff_t>(first),
                            products.begin() + static_cast<std::ptrdiff_t>(last));
    terms.push_back(start);
    bits = sum_of(rule, sums, terms);
    start = decode(sums, bits);
  }
  return sums == test.d ? bits : f16_of(start);
}

float float_of(const Real& real) {
  if (real.kind == Kind::nan) return std::numeric_limits<float>::quiet_NaN();
  const double magnitude =
      real.kind == Kind::infinite
          ? std::numeric_limits<double>::infinity()
          : std::ldexp(static_cast<double>(real.significand), real.exponent - real.fraction_bits);
  return static_cast<float>(real.negative ? -magnitude : magnitude);
}

uint64_t fast_element(const MmaCase& test, const Matrix& a, const Matrix& b, uint32_t i, uint32_t j,
                      uint64_t c) {
  float sum = float_of(decode(test.c, c));
  for (uint32_t k = 0; k < a.columns; ++k) {
    sum = std::fma(float_of(decode(test.a, a.at(i, k))), float_of(decode(test.b, b.at(k, j))), sum);
  }
  if (test.d == Number::f16) return f16_of(decode(Number::f32, std::bit_cast<uint32_t>(sum)));
  return std::isnan(sum) ? nan_of(test.d) : std::bit_cast<uint32_t>(sum);
}

int64_t integer(Number number, uint64_t bits) {
  switch (number) {
    case Number::s8:
      return static_cast<int8_t>(bits);
    case Number::s4:
      return static_cast<int64_t>(bits & 15) - (bits & 8 ? 16 : 0);
    case Number::s32:
      return static_cast<int32_t>(bits);
    default:
      return static_cast<int64_t>(bits);
  }
}

uint64_t integer_element(const MmaCase& test, const Matrix& a, const Matrix& b, uint32_t i,
                         uint32_t j, uint64_t c) {
  int64_t sum = integer(Number::s32, c);
  for (uint32_t k = 0; k < test.k; ++k) {
    const int64_t x = integer(test.a, a.at(i, k)), y = integer(test.b, b.at(k, j));
    sum += test.a != Number::b1 ? x * y : test.popc_and ? (x & y) : (x ^ y);
  }
  if (test.saturates) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<uint32_t>(sum);
}

uint64_t double_element(const MmaCase& test, const Matrix& a, const Matrix& b, uint32_t i,
                        uint32_t j, uint64_t c) {
  auto sum = std::bit_cast<double>(c);
  std::fesetround(test.rounding);
  for (uint32_t k = 0; k < test.k; ++k) {
    sum = std::fma(std::bit_cast<double>(a.at(i, k)), std::bit_cast<double>(b.at(k, j)), sum);
  }
  std::fesetround(FE_TONEAREST);
  return std::isnan(sum) ? 0xfff8000000000000 : std::bit_cast<uint64_t>(sum);
}

/// Element `index` of a lane's fragment.
struct Place {
  uint32_t row, column;
};
Place place_of(Role role, Number number, uint32_t rows, uint32_t lane, uint32_t index) {
  const uint32_t group = lane >> 2, in_group = lane % 4;
  if (role == Role::sum) {
    const uint32_t low = index % 2, high = index / 2;
    return {group + (rows == 16 ? 8 * high : 0), in_group * 2 + low};
  }
  const uint32_t bits = traits_of(number).bits, run = bits >= 32 ? 1 : 32 / bits;
  const uint32_t along = in_group * run + index % run, part = index / run;
  if (role == Role::b) return {along + 4 * run * part, group};
  if (rows == 8) return {group, along};
  return {group + (part % 2 == 1 ? 8 : 0), along + 4 * run * (part / 2)};
}

}  // namespace

Traits traits_of(Number number) {
  switch (number) {
    case Number::f16:
      return {"f16", 16, 5, 10};
    case Number::bf16:
      return {"bf16", 16, 8, 7};
    case Number::tf32:
      return {"tf32", 32, 8, 10};
    case Number::e4m3:
      return {"e4m3", 8, 4, 3};
    case Number::e5m2:
      return {"e5m2", 8, 5, 2};
    case Number::f32:
      return {"f32", 32, 8, 23};
    case Number::f64:
      return {"f64", 64, 11, 52};
    case Number::s8:
      return {"s8", 8, 0, 0};
    case Number::u8:
      return {"u8", 8, 0, 0};
    case Number::s4:
      return {"s4", 4, 0, 0};
    case Number::u4:
      return {"u4", 4, 0, 0};
    case Number::b1:
      return {"b1", 1, 0, 0};
    case Number::s32:
      return {"s32", 32, 0, 0};
  }
  return {};
}

Matrix multiply(const MmaCase& test, const Rule& rule, const Matrix& a, const Matrix& b,
                const Matrix& c) {
  Matrix d(test.m, test.n);
  for (uint32_t i = 0; i < test.m; ++i) {
    for (uint32_t j = 0; j < test.n; ++j) {
      if (test.a == Number::f64) {
        d.at(i, j) = double_element(test, a, b, i, j, c.at(i, j));
      } else if (!is_real(test.a)) {
        d.at(i, j) = integer_element(test, a, b, i, j, c.at(i, j));
      } else if (rule.fast) {
        d.at(i, j) = fast_element(test, a, b, i, j, c.at(i, j));
      } else {
        std::vector<Real> products;
        for (uint32_t k = 0; k < a.columns; ++k) {
          products.push_back(product(decode(test.a, a.at(i, k)), decode(test.b, b.at(k, j))));
        }
        d.at(i, j) = real_element(test, rule, std::move(products), c.at(i, j));
      }
    }
  }
  return d;
}

uint32_t words_of(Role, Number number, uint32_t rows, uint32_t columns) {
  return rows * columns * traits_of(number).bits / 32 / kLanes;
}

std::vector<uint32_t> to_fragments(Role role, Number number, const Matrix& matrix) {
  const uint32_t bits = traits_of(number).bits;
  const uint32_t words = words_of(role, number, matrix.rows, matrix.columns);
  std::vector<uint32_t> result(uint64_t{words} * kLanes);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    for (uint32_t i = 0; i < words * 32 / bits; ++i) {
      const Place at = place_of(role, number, matrix.rows, lane, i);
      const uint64_t element = matrix.at(at.row, at.column);
      uint32_t* word = &result[lane * words + i * bits / 32];
      *word |= static_cast<uint32_t>(element << (i * bits % 32));
      if (bits == 64) word[1] = static_cast<uint32_t>(element >> 32);
    }
  }
  return result;
}

Matrix from_fragments(Number number, uint32_t rows, uint32_t columns,
                      const std::vector<uint32_t>& fragments) {
  const uint32_t bits = traits_of(number).bits;
  const uint32_t words = words_of(Role::sum, number, rows, columns);
  Matrix matrix(rows, columns);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    for (uint32_t i = 0; i < words * 32 / bits; ++i) {
      const Place at = place_of(Role::sum, number, rows, lane, i);
      const uint32_t* word = &fragments[lane * words + i * bits / 32];
      uint64_t element = *word >> (i * bits % 32);
      if (bits == 16) element &= 0xffff;
      if (bits == 64) element |= uint64_t{word[1]} << 32;
      matrix.at(at.row, at.column) = element;
    }
  }
  return matrix;
}

}  // namespace km::kernels
