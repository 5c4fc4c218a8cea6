// Numbers of a distribution from one word each, by the inverse of its distribution function: what
// Sobol's sequences and the twisters use. The formulas are those of NVIDIA's headers.
#include "dropin/curand/kernels/poisson.cuh"

namespace km::curand {

constexpr float kUnit32 = 2.3283064e-10f;
constexpr double kUnit53 = 1.1102230246251565e-16;

__device__ inline u32 top(u32 x) { return x; }
__device__ inline u32 top(u64 x) { return u32(x >> 32); }

template <class Word>
__device__ float uniform(Word x) {
  return top(x) * kUnit32 + kUnit32 / 2.0f;
}
__device__ inline double uniform_double(u32 x) { return upper_uniform(x); }
__device__ inline double uniform_double(u64 x) { return (x >> 11) * kUnit53 + kUnit53 / 2.0; }

/// The upper half mirrors the lower one, whose numbers keep their precision.
template <class Word>
__device__ float normal(Word word) {
  u32 x = top(word);
  float size = -1.41421356f;
  if (x > 0x80000000u) {
    x = 0xffffffffu - x;
    size = -size;
  }
  const float p = x * kUnit32 + kUnit32 / 2.0f;
  return size * erfcinvf(2.0f * p);
}
__device__ inline double normal_double(u32 x) {
  double size = -1.4142135623730951;
  if (x > 0x80000000u) {
    x = 0xffffffffu - x;
    size = -size;
  }
  const double p = x * kUnit32Double + kUnit32Double / 2.0;
  return size * erfcinv(2.0 * p);
}
__device__ inline double normal_double(u64 x) {
  double size = -1.4142135623730951;
  x >>= 11;
  if (x > 0x10000000000000ull) {
    x = 0x1fffffffffffffull - x;
    size = -size;
  }
  const double p = x * kUnit53 + kUnit53 / 2.0;
  return size * erfcinv(2.0 * p);
}

/// In (0, 1).
__device__ inline double inner_uniform(u32 x) { return x * kUnit32Double + kUnit32Double / 2.0; }

/// Sums probabilities up to the uniform number, or until more of them change nothing; exp() takes
/// parts of the mean, which may be large.
template <class Word>
__device__ u32 poisson(Word x, double mean) {
  constexpr int kPart = 500;
  const double u = uniform_double(x);
  double p = 1, sum = 1;
  u32 count = 0;
  int done = 0;
  do {
    const double factor = exp(mean > double(done + kPart) ? -double(kPart) : double(done - mean));
    p *= factor;
    sum *= factor;
    done += kPart;
    while (u > sum) {
      ++count;
      p *= mean / double(count);
      if (sum + p == sum && double(count) > mean) break;
      sum += p;
    }
  } while (double(done) < mean);
  return count;
}

template <class Parameters, class Word>
__device__ void put(const Parameters& p, Word x, u64 i) {
  switch (p.distribution) {
    case kBits:
      ((Word*)p.out)[i] = x;
      break;
    case kUniform:
      ((float*)p.out)[i] = uniform(x);
      break;
    case kUniformDouble:
      ((double*)p.out)[i] = uniform_double(x);
      break;
    case kNormal:
      ((float*)p.out)[i] = float(p.mean) + float(p.deviation) * normal(x);
      break;
    case kNormalDouble:
      ((double*)p.out)[i] = p.mean + p.deviation * normal_double(x);
      break;
    case kLogNormal:
      ((float*)p.out)[i] = expf(float(p.mean) + float(p.deviation) * normal(x));
      break;
    case kLogNormalDouble:
      ((double*)p.out)[i] = exp(p.mean + p.deviation * normal_double(x));
      break;
    case kPoissonTable:
      ((u32*)p.out)[i] = poisson_from_table(p.table, top(x));
      break;
    case kPoissonInverse:
      ((u32*)p.out)[i] = poisson(x, p.mean);
      break;
    default:
      ((u32*)p.out)[i] = u32(p.deviation * normal(x) + p.mean + 0.5);
  }
}

}  // namespace km::curand
