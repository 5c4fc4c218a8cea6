// The approximate instructions of PTX, defined once for the code generator, the tests and the
// interpreter, so that results have the same bits on every machine. They consist of correctly
// rounded operations and use no hardware estimates. Errors (measured in tests) and special cases
// keep within the tables of the PTX ISA.
//
// `Ops` supplies values and operations: types F32, I32 and Bool, and
//   F32 f(float)  I32 i(uint32_t)                         constants
//   add sub mul div (F32, F32)  fma(F32, F32, F32)  sqrt(F32)
//   round(F32)                                            to an integral value, ties to even
//   flush(F32)                                            subnormals to zeros of their sign
//   iadd isub iand ior (I32, I32)  shl sar (I32, n)       shifts by constants; sar keeps the sign
//   I32 bits(F32)  F32 real(I32)  F32 from_int(I32)
//   I32 to_int(F32)                                       of an integral value; 0x80000000 for NaN
//                                                         and overflow
//   Bool less(F32, F32) equal(F32, F32)                   false if an operand is NaN
//   Bool is_zero(I32)
//   select(Bool, T, T)                                    of F32 and I32
// For Approx64 the same for F64 and I64, with constants d(double) and i64(uint64_t).
#pragma once

#include <cstdint>

namespace km::ptx {

template <class Ops>
class Approx {
 public:
  using F32 = typename Ops::F32;
  using I32 = typename Ops::I32;
  using Bool = typename Ops::Bool;

  explicit Approx(Ops& ops) : o(ops) {}

  F32 rcp(F32 x, bool ftz) { return flush(o.div(o.f(1.0f), flush(x, ftz)), ftz); }

  F32 sqrt(F32 x, bool ftz) { return o.sqrt(flush(x, ftz)); }

  F32 rsqrt(F32 x, bool ftz) { return o.div(o.f(1.0f), o.sqrt(flush(x, ftz))); }

  /// The quotient; a divisor with a magnitude above 2^126 gives zero, as the ISA specifies.
  F32 div(F32 a, F32 b, bool ftz) {
    b = flush(b, ftz);
    I32 word = o.bits(b);
    F32 magnitude = o.real(o.iand(word, o.i(0x7fffffff)));
    Bool huge = o.less(o.f(0x1p126f), magnitude);
    b = o.select(huge, o.real(o.iand(o.ior(word, o.i(0x7f800000)), o.i(0xff800000))), b);
    return flush(o.div(flush(a, ftz), b), ftz);
  }

  F32 div_full(F32 a, F32 b, bool ftz) { return flush(o.div(flush(a, ftz), flush(b, ftz)), ftz); }

  F32 sin(F32 x, bool ftz) { return sine(flush(x, ftz), 0); }
  F32 cos(F32 x, bool ftz) { return sine(flush(x, ftz), 1); }

  /// 2^x = 2^k * 2^f with |f| <= 1/2. Without subnormal results, the exponents are added, which is
  /// exact. A subnormal argument gives 1, whether it is flushed or not.
  F32 ex2(F32 x, bool ftz) {
    // Clamping the argument changes no result, which is zero or infinity beyond these limits; NaN
    // stays NaN.
    Bool vanishes = o.less(x, o.f(ftz ? -126.0f : -160.0f));
    if (!ftz) x = o.select(vanishes, o.f(-160.0f), x);
    x = o.select(o.less(o.f(128.0f), x), o.f(128.0f), x);
    F32 k = o.round(x);
    F32 f = o.sub(x, k);
    F32 p = o.f(0x1.417a7p-13f);
    p = o.fma(p, f, o.f(0x1.5f0948p-10f));
    p = o.fma(p, f, o.f(0x1.3b2dd2p-7f));
    p = o.fma(p, f, o.f(0x1.c6af7ap-5f));
    p = o.fma(p, f, o.f(0x1.ebfbdcp-3f));
    p = o.fma(p, f, o.f(0x1.62e43p-1f));
    p = o.fma(p, f, o.f(1.0f));
    I32 whole = o.to_int(k);  // NaN: its mantissa bits are shifted out
    if (ftz) {
      I32 product = o.iadd(o.bits(p), o.shl(whole, 23));
      return o.real(o.select(vanishes, o.i(0), product));
    }
    // The scaling has two steps, so that neither factor overflows and only the second step rounds.
    I32 half = o.sar(whole, 1);
    return o.mul(o.mul(p, power_of_two(half)), power_of_two(o.isub(whole, half)));
  }

  /// log2(x) = e + log2(1 + t), with 1 + t between sqrt(1/2) and sqrt(2).
  F32 lg2(F32 x, bool ftz) {
    x = flush(x, ftz);
    Bool small = o.less(x, o.f(0x1p-126f));
    F32 scaled = ftz ? x : o.select(small, o.mul(x, o.f(0x1p23f)), x);
    I32 offset = o.isub(o.bits(scaled), o.i(kSqrtHalfBits));
    F32 t = o.sub(o.real(o.iadd(o.iand(offset, o.i(0x7fffff)), o.i(kSqrtHalfBits))), o.f(1.0f));
    F32 e = o.from_int(o.sar(offset, 23));
    if (!ftz) e = o.select(small, o.sub(e, o.f(23.0f)), e);
    F32 p = o.f(0x1.01596ep-3f);
    p = o.fma(p, t, o.f(-0x1.a76918p-3f));
    p = o.fma(p, t, o.f(0x1.b966f8p-3f));
    p = o.fma(p, t, o.f(-0x1.e984aep-3f));
    p = o.fma(p, t, o.f(0x1.26dc3p-2f));
    p = o.fma(p, t, o.f(-0x1.715b68p-2f));
    p = o.fma(p, t, o.f(0x1.ec736ep-2f));
    p = o.fma(p, t, o.f(-0x1.715472p-1f));
    p = o.fma(p, t, o.f(0x1.715476p+0f));
    F32 result = o.fma(t, p, e);
    result = o.select(o.less(x, infinity()), result, x);  // infinity and NaN are returned unchanged
    result = o.select(o.equal(x, o.f(0.0f)), o.f(-kInfinity), result);
    return o.select(o.less(x, o.f(0.0f)), nan(), result);
  }

  /// A rational function below 5; 1 from there on.
  F32 tanh(F32 x) {
    F32 u = o.mul(x, x);
    F32 above = o.fma(o.f(0x1.aed26cp-10f), u, o.f(0x1.de1376p-4f));
    above = o.fma(above, u, o.f(1.0f));
    F32 below = o.fma(o.f(0x1.10147cp-14f), u, o.f(0x1.2c8088p-6f));
    below = o.fma(below, u, o.f(0x1.ccd746p-2f));
    below = o.fma(below, u, o.f(1.0f));
    F32 result = o.mul(x, o.div(above, below));
    I32 sign = o.iand(o.bits(x), o.i(0x80000000));
    F32 one = o.real(o.ior(sign, o.i(0x3f800000)));
    return o.select(o.less(o.f(25.0f), u), one, result);
  }

 private:
  F32 flush(F32 x, bool ftz) { return ftz ? o.flush(x) : x; }

  static constexpr float kMagic = 0x1.8p23f;  // adding it leaves an integer in the low bits
  static constexpr uint32_t kSqrtHalfBits = 0x3f3504f3;
  static constexpr float kInfinity = __builtin_inff();

  F32 infinity() { return o.f(kInfinity); }
  F32 nan() { return o.real(o.i(0x7fffffff)); }

  /// 2^k for -126 <= k <= 127.
  F32 power_of_two(I32 k) { return o.real(o.shl(o.iadd(k, o.i(127)), 23)); }

  /// The sine of x plus `quarters` quarter turns. The argument is reduced by quarter turns, which
  /// keeps the result within [-1, 1] for every finite argument.
  F32 sine(F32 x, uint32_t quarters) {
    F32 q = o.mul(x, o.f(0x1.45f306p-1f));  // 2 / pi
    F32 k = o.add(o.round(q), o.f(0.0f));   // never -0, so that -0 stays -0 below
    F32 f = o.sub(q, k), u = o.mul(f, f);
    F32 s = o.f(-0x1.2a7638p-8f);
    s = o.fma(s, u, o.f(0x1.46496cp-4f));
    s = o.fma(s, u, o.f(-0x1.4abb68p-1f));
    s = o.mul(f, o.fma(s, u, o.f(0x1.921fb4p+0f)));
    F32 c = o.f(-0x1.4eb112p-6f);
    c = o.fma(c, u, o.f(0x1.03b18ep-2f));
    c = o.fma(c, u, o.f(-0x1.3bd3a2p+0f));
    c = o.fma(c, u, o.f(1.0f));
    I32 quadrant = o.iadd(o.bits(o.add(k, o.f(kMagic))), o.i(quarters));
    F32 value = o.select(o.is_zero(o.iand(quadrant, o.i(1))), s, c);
    I32 negative = o.shl(o.iand(quadrant, o.i(2)), 30);
    return o.real(o.ixor(o.bits(value), negative));
  }

  Ops& o;
};

/// The two f64 forms that use only the upper word, and rsqrt.approx.f64.
template <class Ops>
class Approx64 {
 public:
  using F64 = typename Ops::F64;
  using I64 = typename Ops::I64;

  explicit Approx64(Ops& ops) : o(ops) {}

  F64 rcp_ftz(F64 x) { return coarse(o.div(o.d(1.0), coarse_source(x))); }
  F64 rsqrt_ftz(F64 x) { return coarse(o.div(o.d(1.0), o.sqrt(coarse_source(x)))); }

  /// Two roundings, and one Newton step that removes most of their error.
  F64 rsqrt(F64 x) {
    F64 y = o.div(o.d(1.0), o.sqrt(x));
    F64 root = o.mul(x, y);
    F64 root_error = o.fma(x, y, o.sub(o.d(0.0), root));
    F64 rest = o.fma(root, o.sub(o.d(0.0), y), o.d(1.0));  // 1 - root * y
    rest = o.sub(rest, o.mul(root_error, y));
    F64 better = o.fma(o.mul(y, o.d(0.5)), rest, y);
    // Zero and infinity: the Newton step gives NaN.
    return o.select(o.equal(better, better), better, y);
  }

 private:
  static constexpr uint64_t kUpper = 0xffffffff00000000;

  F64 coarse_source(F64 x) { return o.flush(o.real(o.iand(o.bits(x), o.i64(kUpper)))); }

  /// Rounds to the upper word; the NaN result is the ISA's.
  F64 coarse(F64 result) {
    I64 rounded = o.iand(o.iadd(o.bits(o.flush(result)), o.i64(0x80000000)), o.i64(kUpper));
    auto number = o.equal(result, result);
    return o.real(o.select(number, rounded, o.i64(0x7fffffff00000000)));
  }

  Ops& o;
};

}  // namespace km::ptx
