// Floating-point arithmetic of every format. The rules where PTX leaves room:
//   NaN results are canonical: f32 0x7fffffff, halves 0x7fff, f64 0xfff8000000000000. .sat gives +0
//   for NaN and zeros of both signs; .relu gives +0 for zeros of both signs. Of the zeros -0 is the
//   smaller.
#include "reference/evaluate.h"
#include "reference/values.h"

namespace km::reference {
namespace {

/// .ftz on f64, which rcp takes, changes nothing.
bool flushes(const Instruction& in) { return in.has(Modifier::ftz) && in.type() != Type::f64; }

/// What .relu, .sat and .ftz do to an exact result on its way to bits.
uint64_t deliver(const Instruction& in, const Format& format, Number number) {
  const bool below = number.negative || number.is_zero();
  if (in.has(Modifier::relu) && below && !number.is_nan()) number = {};
  uint64_t bits = encode(format, number, round_of(in));
  if (in.has(Modifier::sat)) bits = saturate(format, bits);
  return flushes(in) ? flush(format, bits) : bits;
}

/// The operands of one element.
struct Element {
  const Instruction& in;
  const Format& format;
  uint64_t raw[3] = {};

  Number number(unsigned index) const { return decode(format, raw[index]); }
};

/// Runs `f(element)`, which gives bits, on each half of packed operands or on plain ones.
template <class F>
Outcome on_elements(const Arguments& a, F f) {
  const Format& format = *format_of(a.in.type());
  const unsigned count = is_packed(a.in.type()) ? 2 : 1;
  Bits result = 0;
  for (unsigned i = 0; i < count; ++i) {
    Element element{a.in, format};
    for (unsigned k = 0; k < a.s.size() && k < 3; ++k) {
      const auto bits = static_cast<uint64_t>(truncate(a.s[k] >> (i * format.width), format.width));
      element.raw[k] = flushes(a.in) ? flush(format, bits) : bits;
    }
    result |= Bits{f(element)} << (i * format.width);
  }
  return {result};
}

Outcome add_sub(const Arguments& a) {
  return on_elements(a, [](const Element& e) {
    const Number b = e.number(1);
    const Number addend = e.in.opcode == Opcode::sub ? negated(b) : b;
    return deliver(e.in, e.format, add(e.number(0), addend, round_of(e.in)));
  });
}

Outcome mul(const Arguments& a) {
  return on_elements(a, [](const Element& e) {
    return deliver(e.in, e.format, multiply(e.number(0), e.number(1)));
  });
}

Outcome fma(const Arguments& a) {
  return on_elements(a, [](const Element& e) {
    const Number product = multiply(e.number(0), e.number(1));
    return deliver(e.in, e.format, add(product, e.number(2), round_of(e.in)));
  });
}

/// Out-of-bounds operands, which tensor copies fill with one special NaN, give zero.
Outcome fma_oob(const Arguments& a) {
  constexpr uint64_t kOutOfBounds = 0xffff;
  return on_elements(a, [](const Element& e) -> uint64_t {
    if (e.raw[0] == kOutOfBounds || e.raw[1] == kOutOfBounds) return 0;
    const Number product = multiply(e.number(0), e.number(1));
    return deliver(e.in, e.format, add(product, e.number(2), round_of(e.in)));
  });
}

/// Applies an operation in f32 to operands of which all but the last are f16 or bf16.
template <Handler kOperation>
Outcome mixed(const Arguments& a) {
  const Format& narrow = *format_of(a.in.type(1));
  Bits wide[3] = {};
  for (size_t i = 0; i < a.s.size(); ++i) {
    const bool is_last = i + 1 == a.s.size();
    const auto bits = static_cast<uint64_t>(a.s[i]);
    wide[i] = is_last ? bits : encode(kF32, decode(narrow, bits), Round::rn);  // exact
  }
  return kOperation({a.in, {wide, a.s.size()}, a.carry});
}

Outcome div(const Arguments& a) {
  return on_elements(a, [](const Element& e) {
    return deliver(e.in, e.format, divide(e.number(0), e.number(1)));
  });
}

Outcome rcp(const Arguments& a) {
  return on_elements(a, [](const Element& e) {
    return deliver(e.in, e.format, divide(from_integer(false, 1), e.number(0)));
  });
}

Outcome sqrt(const Arguments& a) {
  return on_elements(
      a, [](const Element& e) { return deliver(e.in, e.format, square_root(e.number(0))); });
}

Outcome absolute(const Arguments& a) {
  return on_elements(a, [](const Element& e) {
    if (is_nan(e.format, e.raw[0])) return e.format.canonical_nan;
    return e.raw[0] & ~sign_bit(e.format);
  });
}

Outcome negate(const Arguments& a) {
  return on_elements(a, [](const Element& e) {
    if (is_nan(e.format, e.raw[0])) return e.format.canonical_nan;
    return e.raw[0] ^ sign_bit(e.format);
  });
}

Outcome copysign(const Arguments& a) {
  return on_elements(a, [](const Element& e) {
    const uint64_t sign = sign_bit(e.format);
    return (e.raw[1] & ~sign) | (e.raw[0] & sign);
  });
}

/// Of numbers and NaNs a number, unless .NaN or all are NaNs.
uint64_t choose(const Element& e, bool maximum, uint64_t a, uint64_t b) {
  const bool a_nan = is_nan(e.format, a), b_nan = is_nan(e.format, b);
  if ((a_nan && b_nan) || (e.in.has(Modifier::NaN) && (a_nan || b_nan))) {
    return e.format.canonical_nan;
  }
  if (a_nan || b_nan) return a_nan ? b : a;
  return min_max(e.format, a, b, maximum);
}

Outcome extremum(const Arguments& a) {
  return on_elements(a, [&](const Element& e) {
    const bool maximum = e.in.opcode == Opcode::max;
    const uint64_t sign = sign_bit(e.format);
    uint64_t raw[3];
    for (unsigned i = 0; i < 3; ++i) {
      raw[i] = e.in.has(Modifier::abs) ? e.raw[i] & ~sign : e.raw[i];
    }
    uint64_t result = choose(e, maximum, raw[0], raw[1]);
    if (a.s.size() > 2) result = choose(e, maximum, result, raw[2]);
    if (!e.in.has(Modifier::xorsign) || is_nan(e.format, result)) return result;
    return result | ((e.raw[0] ^ e.raw[1]) & sign);
  });
}

}  // namespace

uint64_t min_max(const Format& format, uint64_t a, uint64_t b, bool maximum) {
  if (is_nan(format, a) || is_nan(format, b)) {
    if (is_nan(format, a) && is_nan(format, b)) return format.canonical_nan;
    return is_nan(format, a) ? b : a;
  }
  const auto order = compare(decode(format, a), decode(format, b));
  bool first_is_less = order == std::partial_ordering::less;
  if (order == std::partial_ordering::equivalent) first_is_less = (a & sign_bit(format)) != 0;
  return first_is_less != maximum ? a : b;
}

uint64_t saturate(const Format& format, uint64_t bits) {
  const Number number = decode(format, bits);
  if (number.is_nan() || number.is_zero() || number.negative) return 0;
  const Number one = from_integer(false, 1);
  return compare(number, one) == std::partial_ordering::greater ? encode(format, one, Round::rn)
                                                                : bits;
}

uint64_t add_rounded(const Format& format, uint64_t a, uint64_t b, bool ftz) {
  if (ftz) a = flush(format, a), b = flush(format, b);
  const uint64_t sum =
      encode(format, add(decode(format, a), decode(format, b), Round::rn), Round::rn);
  return ftz ? flush(format, sum) : sum;
}

Handler find_float(const Instruction& in) {
  if (in.type_count == 2 && in.type() == Type::f32) {
    return in.opcode == Opcode::fma ? mixed<fma> : mixed<add_sub>;
  }
  if (in.type_count != 1 || format_of(in.type()) == nullptr) return nullptr;
  if (in.has(Modifier::approx) || in.has(Modifier::full)) return nullptr;
  switch (in.opcode) {
    case Opcode::add:
    case Opcode::sub:
      return add_sub;
    case Opcode::mul:
      return mul;
    case Opcode::fma:
      return in.has(Modifier::oob) ? fma_oob : fma;
    case Opcode::mad:
      return fma;
    case Opcode::div:
      return div;
    case Opcode::rcp:
      return rcp;
    case Opcode::sqrt:
      return sqrt;
    case Opcode::abs:
      return absolute;
    case Opcode::neg:
      return negate;
    case Opcode::copysign:
      return copysign;
    case Opcode::min:
    case Opcode::max:
      return extremum;
    default:
      return nullptr;
  }
}

}  // namespace km::reference
