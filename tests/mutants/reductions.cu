// Sums and extremes of arrays. mutants.h says what the marks mean.
#include "mutants.h"

// run: 4 128 random[500] zeros[4] 500
KERNEL sum_by_tree(const int* a, int* out, int n) {
  __shared__ int s[128];
  s[T] = 0;                // mutant: initialisation
  if (I < n) s[T] = a[I];  // mutant: bound
  __syncthreads();         // mutant: barrier
  for (int k = 64; k > 0; k /= 2) {
    if (T < k) s[T] += s[T + k];
    __syncthreads();  // mutant: barrier
  }
  if (T == 0) out[B] = s[0];
}

// run: 4 128 random[2000] zeros[4] 2000
KERNEL sum_by_strides_and_shuffles(const int* a, int* out, int n) {
  __shared__ int sums[4];
  int sum = 0;
  for (int i = I; i < n; i += 512) sum += a[i];
  for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(~0u, sum, k);
  if (T % 32 == 0) sums[T / 32] = sum;
  __syncthreads();  // mutant: barrier
  if (T >= 32) return;
  sum = 0;
  if (T < 4) sum = sums[T];  // mutant: bound
  for (int k = 2; k > 0; k /= 2) sum += __shfl_down_sync(~0u, sum, k);
  if (T == 0) out[B] = sum;
}

// run: 4 128 random[512] zeros[4] 512
KERNEL sum_with_a_last_warp(const int* a, int* out, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  __syncthreads();  // mutant: barrier
  if (T < 64) s[T] += s[T + 64];
  __syncthreads();  // mutant: barrier
  if (T >= 32) return;
  s[T] += s[T + 32];
  __syncwarp();  // mutant: warp barrier
  for (int k = 16; k > 0; k /= 2) {
    int other = 0;
    if (T < k) other = s[T + k];
    // Harmless: a lane below k reads what lanes from k on hold, which nobody writes in this round.
    __syncwarp();  // harmless: warp barrier
    if (T < k) s[T] += other;
    __syncwarp();  // mutant: warp barrier
  }
  if (T == 0) out[B] = s[0];
}

// run: 4 128 random[500] zeros[4] zeros[2] 500
KERNEL sum_by_the_last_block(const int* a, int* sums, int* state, int n) {
  __shared__ int s[128];
  __shared__ bool last;
  s[T] = 0;                // mutant: initialisation
  if (I < n) s[T] = a[I];  // mutant: bound
  __syncthreads();         // mutant: barrier
  for (int k = 64; k > 0; k /= 2) {
    if (T < k) s[T] += s[T + k];
    __syncthreads();  // mutant: barrier
  }
  if (T == 0) {
    sums[B] = s[0];
    __threadfence();  // mutant: fence
    last = atomicAdd(&state[0], 1) == 3;
  }
  __syncthreads();  // mutant: barrier
  if (!last) return;
  // Harmless: the fence of thread 0 and the barrier after it cover the whole block.
  __threadfence();  // harmless: fence
  if (T == 0) state[1] = sums[0] + sums[1] + sums[2] + sums[3];
}

// run: 4 128 random[500] zeros[4] 500
KERNEL sum_by_atomics_of_a_block(const int* a, int* out, int n) {
  __shared__ int sum;
  if (T == 0) sum = 0;               // mutant: initialisation
  __syncthreads();                   // mutant: barrier
  if (I < n) atomicAdd(&sum, a[I]);  // mutant: bound
  __syncthreads();                   // mutant: barrier
  if (T == 0) atomicAdd(&out[0], sum);
}

// run: 4 128 random[500] zeros[4] 500
KERNEL place_of_the_least(const int* a, int* out, int n) {
  __shared__ int values[128];
  __shared__ int places[128];
  values[T] = 0x7fffffff;  // mutant: initialisation
  // Harmless: the place of a thread without a value is never taken.
  places[T] = 0;  // harmless: initialisation
  if (I < n) {
    values[T] = a[I];
    places[T] = I;
  }
  __syncthreads();  // mutant: barrier
  for (int k = 64; k > 0; k /= 2) {
    if (T < k && values[T + k] < values[T]) {
      values[T] = values[T + k];
      places[T] = places[T + k];
    }
    __syncthreads();  // mutant: barrier
  }
  if (T == 0) out[B] = places[0];
}

// run: 4 128 random[500] zeros[500] 500
KERNEL distance_from_the_mean(const int* a, int* out, int n) {
  __shared__ int sums[4];
  __shared__ int mean;
  int value = 0;
  if (I < n) value = a[I];  // mutant: bound
  int sum = value;
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
  if (T % 32 == 0) sums[T / 32] = sum;
  __syncthreads();  // mutant: barrier
  if (T == 0) mean = (sums[0] + sums[1] + sums[2] + sums[3]) / 128;
  __syncthreads();                   // mutant: barrier
  if (I < n) out[I] = value - mean;  // mutant: bound
}
