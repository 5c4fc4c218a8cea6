// expf, logf and sinf of CUDA on vectors: the algorithms that NVRTC emits, for all arguments, with
// the same bits but for what a NaN carries. `Vector` is Floats or FloatPair.
#pragma once

#include <immintrin.h>

#include <cmath>

#include "common/vectors.h"

namespace km::bench {

template <class Vector>
using IntsLike = IntsOf<sizeof(Vector) / 4>;

template <class Vector>
inline Vector as_floats(IntsLike<Vector> bits) {
  return __builtin_bit_cast(Vector, bits);
}
template <class Vector>
inline IntsLike<Vector> as_ints(Vector value) {
  return __builtin_bit_cast(IntsLike<Vector>, value);
}
template <class Vector>
inline Vector to_floats(IntsLike<Vector> value) {
  return __builtin_convertvector(value, Vector);
}
template <class Vector>
inline Vector fma(Vector a, Vector b, Vector c) {
  return __builtin_elementwise_fma(a, b, c);
}

// Instructions that clang's vectors have no notation for.
inline Floats fma_down(Floats a, Floats b, Floats c) {
#if defined(__AVX512F__)
  constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
  return _mm512_fmadd_round_ps(a, b, c, kDown);
#else  // where the result is an integer from 2^23 to 2^24
  const Floats nearest = fma(a, b, c);
  return as_floats<Floats>(as_ints(nearest) + (fma(a, b, c - nearest) < 0.0f));
#endif
}
inline FloatPair fma_down(FloatPair a, FloatPair b, FloatPair c) {
  FloatPair result;
  result.lo = fma_down(a.lo, b.lo, c.lo);
  result.hi = fma_down(a.hi, b.hi, c.hi);
  return result;
}

/// To nearest; 0x80000000 for NaN and what does not fit.
inline Ints nearest_int(Floats x) {
#if defined(__AVX512F__)
  return __builtin_bit_cast(Ints, _mm512_cvtps_epi32(x));
#else
  return __builtin_bit_cast(Ints, _mm256_cvtps_epi32(x));
#endif
}
inline IntPair nearest_int(FloatPair x) {
  IntPair result;
  result.lo = nearest_int(x.lo);
  result.hi = nearest_int(x.hi);
  return result;
}

/// ex2.approx.ftz.f32 as Kernelmill defines it.
template <class Vector>
inline Vector ex2(Vector x) {
  const Vector bounded = x > 128.0f ? Vector(128.0f) : x;
  const Vector f = bounded - __builtin_elementwise_rint(bounded);
  Vector p = fma<Vector>(0x1.417a7p-13f, f, 0x1.5f0948p-10f);
  p = fma<Vector>(p, f, 0x1.3b2dd2p-7f);
  p = fma<Vector>(p, f, 0x1.c6af7ap-5f);
  p = fma<Vector>(p, f, 0x1.ebfbdcp-3f);
  p = fma<Vector>(p, f, 0x1.62e43p-1f);
  p = fma<Vector>(p, f, 1.0f);
  const auto product = as_ints(p) + (nearest_int(bounded) << 23);
  return as_floats<Vector>(x < -126.0f ? 0 : product);
}

template <class Vector>
inline Vector expf(Vector x) {
  Vector share = fma<Vector>(x, 0x1.77313ap-8f, 0.5f);
  share = share > 0.0f ? share : 0.0f;
  share = share < 1.0f ? share : 1.0f;
  const Vector whole = fma_down(share, Vector(252.0f), Vector(12582913.0f));
  const Vector n = whole - 12583039.0f;
  const Vector rest = fma<Vector>(x, 0x1.4ae0cp-26f, fma<Vector>(x, 0x1.715476p+0f, -n));
  return ex2(rest) * as_floats<Vector>(as_ints(whole) << 23);
}

template <class Vector>
inline Vector logf(Vector x) {
  const auto subnormal = x < 0x1p-126f;
  x = subnormal ? x * 0x1p23f : x;
  const auto exponent = (as_ints(x) - 0x3f2aaaab) & static_cast<int32_t>(0xff800000);
  const Vector m = as_floats<Vector>(as_ints(x) - exponent) - 1.0f;
  const Vector e =
      fma<Vector>(to_floats<Vector>(exponent), 0x1p-23f, subnormal ? Vector(-23.0f) : Vector(0.0f));
  constexpr float kTerms[] = {0x1.2073ecp-3f, -0x1.f19b98p-4f, 0x1.1e52aap-3f, -0x1.55b172p-3f,
                              0x1.99da16p-3f, -0x1.fffe44p-3f, 0x1.5554fp-2f,  -0.5f};
  Vector p = -0x1.0aa04ep-3f;
  for (const float term : kTerms) p = fma<Vector>(p, m, term);
  const Vector finite = fma<Vector>(e, 0x1.62e43p-1f, fma<Vector>(m * p, m, m));
  const Vector infinity = __builtin_inff();
  const auto below = as_ints(x) >= 0 & as_ints(x) < 0x7f800000;
  const Vector result = below ? finite : fma<Vector>(x, infinity, infinity);
  return x == 0.0f ? -infinity : result;
}

/// Quarter turns taken off an argument beyond 105615, from 192 bits of 2 / pi.
inline float reduce_large(float x, int32_t& quarter) {
  constexpr uint32_t kDigits[] = {0x3c439041, 0xdb629599, 0xf534ddc0,
                                  0xfc2757d1, 0x4e441529, 0xa2f9836e};
  if (std::isinf(x)) {
    quarter = 0;
    return x * 0.0f;
  }
  const auto word = __builtin_bit_cast(uint32_t, x);
  const uint32_t exponent = (word >> 23 & 255) - 128, part = exponent >> 5, shift = exponent & 31;
  uint32_t product[7];
  uint64_t carry = 0;
  for (int i = 0; i < 6; ++i) {
    carry += uint64_t{kDigits[i]} * (word << 8 | 0x80000000);
    product[i] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  product[6] = static_cast<uint32_t>(carry);
  const uint32_t* const top = product + 6 - part;
  uint64_t bits = uint64_t{top[0]} << 32 | top[-1];
  if (shift != 0) bits = bits << shift | top[-2] >> (32 - shift);
  const bool negative = word >> 31 != 0;
  const auto rounded = static_cast<int32_t>((bits >> 62) + (bits >> 61 & 1));
  quarter = negative ? -rounded : rounded;
  const auto fraction =
      static_cast<double>(static_cast<int64_t>(bits << 2)) * 0x1.921fb54442d19p-64;
  const auto result = static_cast<float>(fraction);
  return negative ? -result : result;
}

template <class Vector>
[[gnu::noinline]] void reduce_large_lanes(const Vector& x, Vector& rest,
                                          IntsLike<Vector>& quarter) {
  for (unsigned i = 0; i < sizeof x / 4; ++i) {
    if (!(std::fabs(x[i]) >= 105615.0f)) continue;
    int32_t own = 0;
    rest[i] = reduce_large(x[i], own);
    quarter[i] = own;
  }
}

template <class Vector>
inline Vector sinf(Vector x) {
  const Vector turns = x * 0x1.45f306p-1f;
  auto quarter = turns >= 0x1p31f ? 0x7fffffff : nearest_int(turns);
  quarter = turns == turns ? quarter : 0;
  const Vector n = to_floats<Vector>(quarter);
  Vector rest = fma<Vector>(n, -0x1.921fb4p+0f, x);
  rest = fma<Vector>(n, -0x1.4442dp-24f, rest);
  rest = fma<Vector>(n, -0x1.84698ap-48f, rest);
  const auto large = __builtin_elementwise_abs(x) >= 105615.0f;
  if (__builtin_reduce_or(large)) [[unlikely]]
    reduce_large_lanes(x, rest, quarter);
  const auto odd = (quarter & 1) != 0;
  const Vector factor = odd ? Vector(1.0f) : rest, square = rest * rest;
  Vector p = odd ? fma<Vector>(0x1.9758p-16f, square, -0x1.6c0fdap-10f) : Vector(-0x1.9a82a6p-13f);
  p = fma<Vector>(p, square, odd ? Vector(0x1.555576p-5f) : Vector(0x1.110bc8p-7f));
  p = fma<Vector>(p, square, odd ? Vector(-0x1.fffffep-2f) : Vector(-0x1.55555p-3f));
  const Vector value = fma<Vector>(p, fma<Vector>(square, factor, 0.0f), factor);
  return (quarter & 2) != 0 ? fma<Vector>(value, -1.0f, 0.0f) : value;
}

}  // namespace km::bench
