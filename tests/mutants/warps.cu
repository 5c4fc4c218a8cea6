// Lanes of a warp that exchange values. mutants.h says what the marks mean.
#include "mutants.h"

// run: 4 128 random[512] zeros[512]
KERNEL lanes_reversed(const int* a, int* out) {
  __shared__ int s[128];
  s[T] = a[I];
  __syncwarp();  // mutant: warp barrier
  out[I] = s[T ^ 31];
}

// run: 4 32 random[4096] zeros[4096]
KERNEL rows_to_columns(const int* a, int* out) {
  __shared__ int s[32][33];
  for (int k = 0; k < 32; ++k) s[k][T] = a[B * 1024 + k * 32 + T];
  __syncwarp();  // mutant: warp barrier
  for (int k = 0; k < 32; ++k) out[B * 1024 + k * 32 + T] = s[T][k];
}

// run: 4 128 random[512] zeros[512]
KERNEL lanes_that_take_part(const int* a, int* out) {
  __shared__ int s[128];
  s[T] = a[I];
  if (T % 32 >= 20) return;
  const unsigned mask = (1u << 20) - 1;
  __syncwarp(mask);  // mutant: warp barrier
  const int base = T / 32 * 32, lane = T % 32;
  const int value = s[base + 19 - lane];
  __syncwarp(mask);  // mutant: warp barrier
  s[T] = value + __shfl_sync(mask, value, (lane + 1) % 20);
  __syncwarp(mask);  // mutant: warp barrier
  out[I] = s[base + (lane + 5) % 20];
}

// run: 4 128 random[512] zeros[512]
KERNEL warps_in_turn(const int* a, int* out) {
  __shared__ int value;
  for (int w = 0; w < 4; ++w) {
    if (T == w * 32) value = a[I];
    __syncthreads();  // mutant: barrier
    out[I] += value;
    __syncthreads();  // mutant: barrier
  }
}

// run: 4 128 random[500] zeros[500] 500
KERNEL vote_of_a_block(const int* a, int* out, int n) {
  int value = 0;
  if (I < n) value = a[I];  // mutant: bound
  const int count = __syncthreads_count(value % 2);
  if (I < n) out[I] = count;  // mutant: bound
}

// run: 4 128 random[500] zeros[500] 500
KERNEL saxpy(const int* x, int* y, int n) {
  if (I >= n) return;  // mutant: bound
  y[I] += 3 * x[I];
}

// run: 4 128 random[512] zeros[512] shared=512
KERNEL memory_given_at_launch(const int* a, int* out) {
  extern __shared__ int s[];
  s[T] = a[I];
  __syncthreads();  // mutant: barrier
  out[I] = s[(T + 1) % 128];
}

// run: 4 128 random[2000] zeros[500] 500
KERNEL rows_of_four(const int* a, int* out, int n) {
  if (I >= n) return;  // mutant: bound
  const int4 row = reinterpret_cast<const int4*>(a)[I];
  out[I] = row.x + row.y + row.z + row.w;
}

// run: 4 128 random[500] zeros[1000] 500
KERNEL scattered(const int* a, int* out, int n) {
  if (I >= n) return;  // mutant: bound
  const int place = 3 * a[I];
  if (place < 1000) atomicAdd(&out[place], 1);  // mutant: bound
}
