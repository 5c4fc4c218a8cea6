// Counts of values. mutants.h says what the marks mean.
#include "mutants.h"

// run: 4 128 random[1000] zeros[64] 1000
KERNEL histogram_of_a_block(const int* a, int* out, int n) {
  __shared__ int bins[64];
  if (T < 64) bins[T] = 0;  // mutant: initialisation
  __syncthreads();          // mutant: barrier
  for (int i = I; i < n; i += 512) atomicAdd(&bins[a[i] % 64], 1);
  __syncthreads();                          // mutant: barrier
  if (T < 64) atomicAdd(&out[T], bins[T]);  // mutant: bound
}

// run: 4 128 random[1000] zeros[64] 1000
KERNEL histogram_of_each_warp(const int* a, int* out, int n) {
  __shared__ int bins[4][64];
  int* const mine = bins[T / 32];
  mine[T % 32] = 0;       // mutant: initialisation
  mine[T % 32 + 32] = 0;  // mutant: initialisation
  __syncwarp();           // mutant: warp barrier
  for (int i = I; i < n; i += 512) atomicAdd(&mine[a[i] % 64], 1);
  __syncthreads();      // mutant: barrier
  if (T >= 64) return;  // mutant: bound
  atomicAdd(&out[T], bins[0][T] + bins[1][T] + bins[2][T] + bins[3][T]);
}

// run: 4 128 random[512] zeros[256] 512
KERNEL counts_without_atomics(const int* a, int* out, int n) {
  __shared__ unsigned char bins[128][32];
  for (int k = 0; k < 32; ++k) bins[T][k] = 0;  // mutant: initialisation
  ++bins[T][a[I] % 32];
  __syncthreads();      // mutant: barrier
  if (T >= 32) return;  // mutant: bound
  int sum = 0;
  for (int k = 0; k < 128; ++k) sum += bins[k][T];
  out[B * 32 + T] = sum;
}

// run: 4 128 random[512] zeros[64] 512
KERNEL counts_of_equal_lanes(const int* a, int* out, int n) {
  __shared__ int bins[64];
  if (T < 64) bins[T] = 0;  // mutant: initialisation
  __syncthreads();          // mutant: barrier
  const int bin = a[I] % 64;
  const unsigned peers = __match_any_sync(~0u, bin);
  if (T % 32 == __ffs(peers) - 1) atomicAdd(&bins[bin], __popc(peers));
  __syncthreads();                          // mutant: barrier
  if (T < 64) atomicAdd(&out[T], bins[T]);  // mutant: bound
}

// run: 4 128 random[500] zeros[4] zeros[4] 500
KERNEL range_of_values(const int* a, int* least, int* most, int n) {
  __shared__ int low, high;
  if (T == 0) low = 0x7fffffff;       // mutant: initialisation
  if (T == 0) high = 0;               // mutant: initialisation
  __syncthreads();                    // mutant: barrier
  if (I < n) atomicMin(&low, a[I]);   // mutant: bound
  if (I < n) atomicMax(&high, a[I]);  // mutant: bound
  __syncthreads();                    // mutant: barrier
  if (T != 0) return;
  least[B] = low;
  most[B] = high;
}
