// exp, log and sin on vectors, within 2 ulp for the arguments that the benchmarks have.
#pragma once

#include "common/vectors.h"

namespace km::bench {

inline Floats as_floats(Ints bits) { return __builtin_bit_cast(Floats, bits); }
inline Ints as_ints(Floats value) { return __builtin_bit_cast(Ints, value); }
inline Floats to_floats(Ints value) { return __builtin_convertvector(value, Floats); }
inline Ints to_ints(Floats value) { return __builtin_convertvector(value, Ints); }

/// e^x = 2^n e^r with |r| <= ln 2 / 2.
inline Floats exp(Floats x) {
  x = __builtin_elementwise_min(__builtin_elementwise_max(x, Floats(-87.0f)), Floats(88.0f));
  const Floats n = __builtin_elementwise_rint(x * 1.44269504f);
  const Floats r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  const Floats high =
      (((r * 1.9875691e-4f + 1.3981999e-3f) * r + 8.3334519e-3f) * r + 4.1665796e-2f) * r +
      1.6666665e-1f;
  const Floats power = ((high * r + 0.5f) * r) * r + r + 1.0f;
  return as_floats(as_ints(power) + (to_ints(n) << 23));
}

/// ln(x) = n ln 2 + ln(1 + r), 1 + r between sqrt(1/2) and sqrt(2); for positive normal x.
inline Floats log(Floats x) {
  const Ints shifted = as_ints(x) - 0x3F3504F3;
  const Floats n = to_floats(shifted >> 23);
  const Floats r = as_floats((shifted & 0x7FFFFF) + 0x3F3504F3) - 1.0f;
  const Floats low = ((r * 7.0376836e-2f - 1.1514610e-1f) * r + 1.1676998e-1f) * r - 1.2420141e-1f;
  const Floats high =
      (((low * r + 1.4249323e-1f) * r - 1.6668057e-1f) * r + 2.0000714e-1f) * r - 2.4999994e-1f;
  const Floats tail = (high * r + 3.3333331e-1f) * r * (r * r) - 0.5f * r * r;
  return n * 0.693359375f + (r + (tail - n * 2.12194440e-4f));
}

/// Quarter turns are taken off in three steps; for |x| < 10^5.
inline Floats sin(Floats x) {
  const Floats n = __builtin_elementwise_rint(x * 0.636619747f);
  const Ints quarter = to_ints(n);
  const Floats r = ((x - n * 1.57079601e+00f) - n * 3.13916473e-07f) - n * 5.39030253e-15f;
  const Floats r2 = r * r;
  const Floats sine = ((r2 * -1.9515296e-4f + 8.3321609e-3f) * r2 - 1.6666655e-1f) * r2 * r + r;
  const Floats cosine =
      ((r2 * 2.4433157e-5f - 1.3887316e-3f) * r2 + 4.1666646e-2f) * r2 * r2 - 0.5f * r2 + 1.0f;
  const Floats value = (quarter & 1) != 0 ? cosine : sine;
  return as_floats(as_ints(value) ^ ((quarter & 2) << 30));
}

}  // namespace km::bench
