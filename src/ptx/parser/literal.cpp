#include "ptx/parser/literal.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

namespace km::ptx {
namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

Constant make_double(double value) { return {Constant::Kind::f64, std::bit_cast<uint64_t>(value)}; }

Constant make_integer(uint64_t bits, bool is_unsigned) {
  return {is_unsigned ? Constant::Kind::u64 : Constant::Kind::s64, bits};
}

// The two conversions work on the bits, because the process may have set its threads to flush
// subnormals, and the hardware quiets signalling NaNs.

uint64_t widen(uint32_t bits) {
  uint64_t sign = uint64_t{bits >> 31} << 63;
  uint32_t exponent = bits >> 23 & 0xff;
  uint64_t fraction = bits & 0x007fffffu;
  if (exponent == 0xff) return sign | 0x7ff0000000000000u | fraction << 29;
  if (exponent == 0) {
    if (fraction == 0) return sign;
    auto shift = static_cast<uint32_t>(std::countl_zero(fraction) - (63 - 23));
    fraction = fraction << shift & 0x007fffffu;
    return sign | uint64_t{1023 - 126 - shift} << 52 | fraction << 29;
  }
  return sign | uint64_t{exponent + 1023 - 127} << 52 | fraction << 29;
}

/// Rounds to nearest, ties to even.
uint32_t narrow(uint64_t bits) {
  auto sign = static_cast<uint32_t>(bits >> 63) << 31;
  auto exponent = static_cast<int>(bits >> 52 & 0x7ff);
  uint64_t fraction = bits & 0x000fffffffffffffu;
  if (exponent == 0x7ff) {
    auto payload = static_cast<uint32_t>(fraction >> 29);
    if (fraction != 0 && payload == 0) payload = 0x00400000u;
    return sign | 0x7f800000u | payload;
  }
  exponent -= 1023 - 127;
  if (exponent >= 0xff) return sign | 0x7f800000u;
  uint32_t drop = 29;
  if (exponent <= 0) {  // subnormal in f32, or zero
    if (exponent < -24) return sign;
    fraction |= uint64_t{1} << 52;
    drop += static_cast<uint32_t>(1 - exponent);
    exponent = 0;
  }
  uint64_t kept = fraction >> drop;
  uint64_t rest = fraction & ((uint64_t{1} << drop) - 1);
  uint64_t half = uint64_t{1} << (drop - 1);
  uint32_t result = static_cast<uint32_t>(exponent) << 23 | static_cast<uint32_t>(kept);
  bool up = rest > half || (rest == half && (kept & 1));
  return sign | (result + (up ? 1 : 0));  // a carry into the exponent is correct
}

std::optional<Constant> apply_float(std::string_view op, double a, double b) {
  if (op == "+") return make_double(a + b);
  if (op == "-") return make_double(a - b);
  if (op == "*") return make_double(a * b);
  if (op == "/") return make_double(a / b);
  if (op == "<") return integer_constant(a < b);
  if (op == ">") return integer_constant(a > b);
  if (op == "<=") return integer_constant(a <= b);
  if (op == ">=") return integer_constant(a >= b);
  if (op == "==") return integer_constant(a == b);
  if (op == "!=") return integer_constant(a != b);
  if (op == "&&") return integer_constant(a != 0 && b != 0);
  if (op == "||") return integer_constant(a != 0 || b != 0);
  return std::nullopt;
}

std::optional<Constant> divide(bool remainder, uint64_t a, uint64_t b, bool is_unsigned) {
  if (b == 0) return std::nullopt;
  if (is_unsigned) return make_integer(remainder ? a % b : a / b, true);
  if (a == kSignBit && b == UINT64_MAX) return make_integer(remainder ? 0 : a, false);
  auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  return integer_constant(remainder ? x % y : x / y);
}

Constant shift(bool left, uint64_t a, uint64_t count, bool is_unsigned) {
  if (left) return make_integer(count > 63 ? 0 : a << count, is_unsigned);
  if (is_unsigned) return make_integer(count > 63 ? 0 : a >> count, true);
  return integer_constant(static_cast<int64_t>(a) >> (count > 63 ? 63 : count));
}

bool less(uint64_t a, uint64_t b, bool is_unsigned) {
  return is_unsigned ? a < b : static_cast<int64_t>(a) < static_cast<int64_t>(b);
}

std::optional<Constant> apply_integer(std::string_view op, Constant left, Constant right) {
  uint64_t a = left.bits, b = right.bits;
  bool is_unsigned = left.kind == Constant::Kind::u64 || right.kind == Constant::Kind::u64;
  if (op == "+") return make_integer(a + b, is_unsigned);
  if (op == "-") return make_integer(a - b, is_unsigned);
  if (op == "*") return make_integer(a * b, is_unsigned);
  if (op == "/" || op == "%") return divide(op == "%", a, b, is_unsigned);
  if (op == "<<" || op == ">>") return shift(op == "<<", a, b, left.kind == Constant::Kind::u64);
  if (op == "&") return make_integer(a & b, is_unsigned);
  if (op == "|") return make_integer(a | b, is_unsigned);
  if (op == "^") return make_integer(a ^ b, is_unsigned);
  if (op == "<") return integer_constant(less(a, b, is_unsigned));
  if (op == ">") return integer_constant(less(b, a, is_unsigned));
  if (op == "<=") return integer_constant(!less(b, a, is_unsigned));
  if (op == ">=") return integer_constant(!less(a, b, is_unsigned));
  if (op == "==") return integer_constant(a == b);
  if (op == "!=") return integer_constant(a != b);
  if (op == "&&") return integer_constant(a != 0 && b != 0);
  if (op == "||") return integer_constant(a != 0 || b != 0);
  return std::nullopt;
}

/// True if a decimal number outside the range of double underflows instead of overflowing.
bool is_tiny(std::string_view text) {
  const size_t mark = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, mark);
  const auto first = static_cast<int64_t>(digits.find_first_of("123456789"));
  const auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
  std::string_view exponent = text.substr(std::min(mark + 1, text.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  int64_t power = 0;
  const auto [end, error] =
      std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (error == std::errc::result_out_of_range) return exponent.starts_with('-');
  return power < first - point;
}

std::string format(const char* pattern, unsigned long long bits) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, pattern, bits);
  return buffer;
}

}  // namespace

double Constant::as_double() const {
  switch (kind) {
    case Kind::s64:
      return static_cast<double>(static_cast<int64_t>(bits));
    case Kind::u64:
      return static_cast<double>(bits);
    case Kind::f32:
      return std::bit_cast<double>(widen(static_cast<uint32_t>(bits)));
    case Kind::f64:
      break;
  }
  return std::bit_cast<double>(bits);
}

bool Constant::is_zero() const { return is_float() ? as_double() == 0 : bits == 0; }

Constant integer_constant(int64_t value) {
  return {Constant::Kind::s64, static_cast<uint64_t>(value)};
}

std::optional<Constant> read_integer(std::string_view text) {
  bool is_unsigned = text.ends_with('U') || text.ends_with('u');
  if (is_unsigned) text.remove_suffix(1);
  int base = 10;
  auto second = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  if (second == 'x' || second == 'X') {
    base = 16;
    text.remove_prefix(2);
  } else if (second == 'b' || second == 'B') {
    base = 2;
    text.remove_prefix(2);
  } else if (second != '\0') {
    base = 8;
    text.remove_prefix(1);
  }
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return make_integer(value, is_unsigned || value > uint64_t{INT64_MAX});
}

std::optional<Constant> read_real(std::string_view text) {
  char second = text.size() > 1 ? text[1] : '\0';
  bool single = second == 'f' || second == 'F';
  if (text[0] == '0' && (single || second == 'd' || second == 'D')) {
    uint64_t bits = 0;
    auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return Constant{single ? Constant::Kind::f32 : Constant::Kind::f64, bits};
  }
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    value = is_tiny(text) ? 0 : std::numeric_limits<double>::infinity();
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  return make_double(value);
}

std::optional<Constant> apply(std::string_view op, Constant a, Constant b) {
  if (a.is_float() || b.is_float()) return apply_float(op, a.as_double(), b.as_double());
  return apply_integer(op, a, b);
}

std::optional<Constant> apply_unary(char op, Constant a) {
  switch (op) {
    case '+':
      return a;
    case '!':
      return integer_constant(a.is_zero());
    case '~':
      if (a.is_float()) return std::nullopt;
      return Constant{a.kind, ~a.bits};
    case '-':
      if (a.kind == Constant::Kind::f32) return Constant{a.kind, a.bits ^ 0x80000000u};
      if (a.kind == Constant::Kind::f64) return Constant{a.kind, a.bits ^ kSignBit};
      return Constant{a.kind, uint64_t{0} - a.bits};
    default:
      return std::nullopt;
  }
}

Constant convert_to_integer(Constant a, bool to_signed) {
  if (!a.is_float()) return make_integer(a.bits, !to_signed);
  constexpr double kTwo63 = 9223372036854775808.0;
  double value = a.as_double();
  if (std::isnan(value)) return make_integer(0, !to_signed);
  if (to_signed) {
    if (value >= kTwo63) return integer_constant(INT64_MAX);
    return integer_constant(value < -kTwo63 ? INT64_MIN : static_cast<int64_t>(value));
  }
  if (value >= 2 * kTwo63) return make_integer(UINT64_MAX, true);
  return make_integer(value <= 0 ? 0 : static_cast<uint64_t>(value), true);
}

std::optional<uint64_t> bits_as(const Constant& constant, Type type) {
  bool single = type == Type::f32 || (type == Type::b32 && constant.is_float());
  bool wide = type == Type::f64 || (type == Type::b64 && constant.is_float());
  if (single || wide) {
    if (!constant.is_float()) return std::nullopt;
    bool is_single = constant.kind == Constant::Kind::f32;
    if (single) return is_single ? constant.bits : narrow(constant.bits);
    return is_single ? widen(static_cast<uint32_t>(constant.bits)) : constant.bits;
  }
  if (type == Type::pred) return constant.is_zero() ? 0 : 1;
  if (constant.is_float()) return std::nullopt;
  uint32_t width = size_bits(type);
  return width >= 64 ? constant.bits : constant.bits & ((uint64_t{1} << width) - 1);
}

std::string literal_text(uint64_t bits, Type type, bool is_float_literal) {
  uint32_t width = size_bits(type);
  if (type == Type::f32 || (is_float_literal && width == 32)) return format("0f%08llX", bits);
  if (type == Type::f64 || (is_float_literal && width == 64)) return format("0d%016llX", bits);
  if (kind_of(type) == TypeKind::signed_int && width > 0) {
    unsigned unused = 64 - std::min(width, 64u);
    auto value = static_cast<int64_t>(bits << unused) >> unused;
    return std::to_string(value);
  }
  constexpr uint64_t kLargestDecimal = 0xffff;
  return bits <= kLargestDecimal ? std::to_string(bits) : format("0x%llX", bits);
}

}  // namespace km::ptx
