// What all generators' kernels share: Poisson numbers by a table, which costs a look-up each, and
// where a call begins.
#include "dropin/curand/kernels/parameters.h"

namespace km::curand {

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;

constexpr double kUnit32Double = 2.3283064365386963e-10;

/// Where a call begins among all that its generator gives.
__device__ inline u64 begin_of(u64 first, u64 counter) {
  return counter == 0 ? first : *(const u64*)counter;
}

/// In (0, 1].
__device__ inline double upper_uniform(u32 x) { return x * kUnit32Double + kUnit32Double; }

__device__ inline u32 poisson_from_table(const PoissonTable& table, u32 x) {
  const double u = upper_uniform(x);
  const u32 j = u32(table.length * u);
  return table.shift + (u < ((const double*)table.bounds)[j] ? j : ((const u32*)table.indices)[j]);
}

}  // namespace km::curand
