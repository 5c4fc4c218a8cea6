#include "unit/simt/arithmetic/arith_reference.h"

#include <cfenv>
#include <cmath>

namespace km::simt::arith {
namespace {

int host_mode(Mode mode) {
  switch (mode) {
    case Mode::rz:
      return FE_TOWARDZERO;
    case Mode::rm:
      return FE_DOWNWARD;
    case Mode::rp:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

class RoundingScope {
 public:
  explicit RoundingScope(Mode mode) : old_(std::fegetround()) { std::fesetround(host_mode(mode)); }
  ~RoundingScope() { std::fesetround(old_); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int old_;
};

/// Operands and result pass through memory, so that the compiler moves nothing out of the scope.
template <class F>
[[gnu::noinline]] F operate(Op op, F first, F second, F third) {
  volatile F a = first, b = second, c = third, result = 0;
  switch (op) {
    case Op::add:
      result = a + b;
      break;
    case Op::sub:
      result = a - b;
      break;
    case Op::mul:
      result = a * b;
      break;
    case Op::fma:
      result = std::fma(F(a), F(b), F(c));
      break;
    case Op::div:
      result = a / b;
      break;
    case Op::rcp:
      result = F(1) / a;
      break;
    case Op::sqrt:
      result = std::sqrt(F(a));
      break;
  }
  return result;
}

bool rounds_up(Mode mode, bool negative, bool odd, double rest) {
  switch (mode) {
    case Mode::rz:
      return false;
    case Mode::rm:
      return negative && rest > 0;
    case Mode::rp:
      return !negative && rest > 0;
    default:
      return rest > 0.5 || (rest == 0.5 && odd);
  }
}

}  // namespace

const char* text_of(Mode mode) {
  constexpr const char* kTexts[] = {".rn", ".rz", ".rm", ".rp"};
  return kTexts[static_cast<int>(mode)];
}

template <class F>
F compute(Op op, F a, F b, F c, Mode mode) {
  RoundingScope scope(mode);
  return operate<F>(op, a, b, c);
}
template float compute(Op, float, float, float, Mode);
template double compute(Op, double, double, double, Mode);

double compute_to_odd(Op op, double a, double b, double c) {
  RoundingScope scope(Mode::rz);
  std::feclearexcept(FE_ALL_EXCEPT);
  double truncated = operate<double>(op, a, b, c);
  if (!std::fetestexcept(FE_INEXACT) || std::isnan(truncated)) return truncated;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(truncated) | 1);
}

double integer_to_odd(unsigned __int128 magnitude, bool negative) {
  int shift = 0;
  bool lost = false;
  while (magnitude >> 53) {
    lost |= (magnitude & 1) != 0;
    magnitude >>= 1;
    ++shift;
  }
  if (lost) magnitude |= 1;
  double value = std::ldexp(static_cast<double>(static_cast<uint64_t>(magnitude)), shift);
  return negative ? -value : value;
}

uint64_t round_to(const Format& format, double value, Mode mode) {
  uint64_t sign = std::signbit(value) ? uint64_t{1} << (format.bits - 1) : 0;
  if (std::isnan(value)) return (uint64_t{1} << (format.bits - 1)) - 1;
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | format.infinity();
  if (magnitude == 0) return sign;
  // The value in units of the last place, which is never below that of the subnormals.
  int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  double units = std::ldexp(magnitude, format.fraction - exponent);
  double whole = std::trunc(units);
  auto fraction = static_cast<uint64_t>(whole);
  fraction += rounds_up(mode, sign != 0, fraction & 1, units - whole);
  auto field = static_cast<uint64_t>(exponent + format.bias() - 1);
  uint64_t bits = (field << format.fraction) + fraction;
  if (bits < format.infinity()) return sign | bits;
  bool outward = mode == Mode::rn || (mode == Mode::rp && !sign) || (mode == Mode::rm && sign);
  return sign | (outward ? format.infinity() : format.infinity() - 1);
}

double value_of(const Format& format, uint64_t bits) {
  bool negative = bits >> (format.bits - 1) & 1;
  uint64_t fraction = bits & ((uint64_t{1} << format.fraction) - 1);
  auto field = static_cast<int>((bits & format.infinity()) >> format.fraction);
  double magnitude = 0;
  if ((bits & format.infinity()) == format.infinity()) {
    magnitude = fraction ? std::nan("") : HUGE_VAL;
  } else {
    if (field) fraction |= uint64_t{1} << format.fraction;
    magnitude = std::ldexp(static_cast<double>(fraction),
                           std::max(field, 1) - format.bias() - format.fraction);
  }
  return negative ? -magnitude : magnitude;
}

bool is_nan(const Format& format, uint64_t bits) {
  return (bits & ((uint64_t{1} << (format.bits - 1)) - 1)) > format.infinity();
}

uint64_t flush(const Format& format, uint64_t bits) {
  return bits & format.infinity() ? bits : bits & uint64_t{1} << (format.bits - 1);
}

}  // namespace km::simt::arith
