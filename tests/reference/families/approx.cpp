// Approximate instructions: the shared definition of ptx/approx.h on numbers computed in integers.
#include "ptx/approx.h"

#include <bit>
#include <cmath>

#include "reference/evaluate.h"
#include "reference/values.h"

namespace km::reference {
namespace {

/// The operations that ptx::Approx wants, on encodings.
struct SoftOps {
  template <class Word, const Format& kFormat>
  struct Real {
    static constexpr const Format& format = kFormat;
    Word word = 0;
  };
  using F32 = Real<uint32_t, kF32>;
  using F64 = Real<uint64_t, kF64>;
  using I32 = uint32_t;
  using I64 = uint64_t;
  using Bool = bool;

  F32 f(float value) { return {std::bit_cast<uint32_t>(value)}; }
  F64 d(double value) { return {std::bit_cast<uint64_t>(value)}; }
  I32 i(uint32_t value) { return value; }
  I64 i64(uint64_t value) { return value; }

  template <class R>
  static Number number(R a) {
    return decode(R::format, a.word);
  }
  template <class R>
  static R rounded(const Number& exact) {
    return {static_cast<decltype(R::word)>(encode(R::format, exact, Round::rn))};
  }

  template <class R>
  R add(R a, R b) {
    return rounded<R>(reference::add(number(a), number(b), Round::rn));
  }
  template <class R>
  R sub(R a, R b) {
    return rounded<R>(reference::add(number(a), negated(number(b)), Round::rn));
  }
  template <class R>
  R mul(R a, R b) {
    return rounded<R>(multiply(number(a), number(b)));
  }
  template <class R>
  R div(R a, R b) {
    return rounded<R>(divide(number(a), number(b)));
  }
  template <class R>
  R fma(R a, R b, R c) {
    return rounded<R>(reference::add(multiply(number(a), number(b)), number(c), Round::rn));
  }
  template <class R>
  R sqrt(R a) {
    return rounded<R>(square_root(number(a)));
  }
  template <class R>
  R round(R a) {
    return rounded<R>(round_to_integral(number(a), Round::rn));
  }
  template <class R>
  R flush(R a) {
    return {static_cast<decltype(R::word)>(reference::flush(R::format, a.word))};
  }

  template <class I>
  I iadd(I a, I b) {
    return a + b;
  }
  template <class I>
  I isub(I a, I b) {
    return a - b;
  }
  template <class I>
  I iand(I a, I b) {
    return a & b;
  }
  template <class I>
  I ior(I a, I b) {
    return a | b;
  }
  template <class I>
  I ixor(I a, I b) {
    return a ^ b;
  }
  I32 shl(I32 a, unsigned n) { return a << n; }
  I32 sar(I32 a, unsigned n) { return static_cast<I32>(static_cast<int32_t>(a) >> n); }

  I32 bits(F32 a) { return a.word; }
  I64 bits(F64 a) { return a.word; }
  F32 real(I32 a) { return {a}; }
  F64 real(I64 a) { return {a}; }
  /// Of an integral value, which the host converts exactly.
  I32 to_int(F32 a) {
    const auto value = std::bit_cast<float>(a.word);
    return std::fabs(value) < 0x1p31f ? static_cast<I32>(static_cast<int32_t>(value)) : 0x80000000;
  }
  F32 from_int(I32 a) {
    const auto value = static_cast<int64_t>(static_cast<int32_t>(a));
    return rounded<F32>(from_integer(value < 0, static_cast<Bits>(value < 0 ? -value : value)));
  }

  template <class R>
  bool less(R a, R b) {
    return compare(number(a), number(b)) == std::partial_ordering::less;
  }
  template <class R>
  bool equal(R a, R b) {
    return compare(number(a), number(b)) == std::partial_ordering::equivalent;
  }
  bool is_zero(I32 a) { return a == 0; }
  template <class T>
  T select(bool condition, T a, T b) {
    return condition ? a : b;
  }
};

using F32 = SoftOps::F32;

F32 unary(const Instruction& in, F32 x) {
  SoftOps ops;
  ptx::Approx<SoftOps> approx(ops);
  const bool ftz = in.has(Modifier::ftz);
  switch (in.opcode) {
    case Opcode::rcp:
      return approx.rcp(x, ftz);
    case Opcode::sqrt:
      return approx.sqrt(x, ftz);
    case Opcode::rsqrt:
      return approx.rsqrt(x, ftz);
    case Opcode::sin:
      return approx.sin(x, ftz);
    case Opcode::cos:
      return approx.cos(x, ftz);
    case Opcode::lg2:
      return approx.lg2(x, ftz);
    case Opcode::ex2:
      return approx.ex2(x, ftz);
    default:
      return approx.tanh(x);
  }
}

/// NaN made canonical.
Bits canonical(F32 value) { return encode(kF32, decode(kF32, value.word), Round::rn); }

Outcome on_f32(const Arguments& a) {
  return {canonical(unary(a.in, {static_cast<uint32_t>(a.s[0])}))};
}

Outcome div_f32(const Arguments& a) {
  SoftOps ops;
  ptx::Approx<SoftOps> approx(ops);
  const F32 x{static_cast<uint32_t>(a.s[0])}, y{static_cast<uint32_t>(a.s[1])};
  const bool ftz = a.in.has(Modifier::ftz);
  return {canonical(a.in.has(Modifier::full) ? approx.div_full(x, y, ftz) : approx.div(x, y, ftz))};
}

/// Halves are computed in f32, then rounded.
Outcome on_halves(const Arguments& a) {
  const Format& half = *format_of(a.in.type());
  const unsigned count = is_packed(a.in.type()) ? 2 : 1;
  Bits result = 0;
  for (unsigned i = 0; i < count; ++i) {
    const auto raw = static_cast<uint64_t>(truncate(a.s[0] >> (16 * i), 16));
    const F32 y = unary(a.in, SoftOps::rounded<F32>(decode(half, raw)));
    result |= Bits{encode(half, SoftOps::number(y), Round::rn)} << (16 * i);
  }
  return {result};
}

Outcome on_f64(const Arguments& a) {
  SoftOps ops;
  ptx::Approx64<SoftOps> approx(ops);
  const SoftOps::F64 x{static_cast<uint64_t>(a.s[0])};
  const bool ftz = a.in.has(Modifier::ftz);
  const SoftOps::F64 y = a.in.opcode == Opcode::rcp ? approx.rcp_ftz(x)
                         : ftz                      ? approx.rsqrt_ftz(x)
                                                    : approx.rsqrt(x);
  return {encode(kF64, decode(kF64, y.word), Round::rn)};
}

}  // namespace

Handler find_approx(const Instruction& in) {
  if (!in.has(Modifier::approx) && !in.has(Modifier::full)) return nullptr;
  if (in.opcode == Opcode::div) return div_f32;
  if (in.type() == Type::f64) return on_f64;
  return in.type() == Type::f32 ? on_f32 : on_halves;
}

}  // namespace km::reference
