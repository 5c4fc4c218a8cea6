// Prefix sums and what is made of them. mutants.h says what the marks mean.
#include "mutants.h"

// run: 4 128 random[500] zeros[500] 500
KERNEL scan_with_two_buffers(const int* a, int* out, int n) {
  __shared__ int s[2][128];
  int now = 0;
  s[0][T] = 0;                // mutant: initialisation
  if (I < n) s[0][T] = a[I];  // mutant: bound
  __syncthreads();            // mutant: barrier
  for (int k = 1; k < 128; k *= 2) {
    s[1 - now][T] = s[now][T];
    if (T >= k) s[1 - now][T] += s[now][T - k];  // mutant: bound
    now = 1 - now;
    __syncthreads();  // mutant: barrier
  }
  if (I < n) out[I] = s[now][T];  // mutant: bound
}

// run: 4 128 random[512] zeros[512] 512
KERNEL scan_in_place(const int* a, int* out, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  __syncthreads();  // mutant: barrier
  for (int k = 1; k < 128; k *= 2) {
    int left = 0;
    if (T >= k) left = s[T - k];  // mutant: bound
    __syncthreads();              // mutant: barrier
    s[T] += left;
    __syncthreads();  // mutant: barrier
  }
  out[I] = s[T];
}

// run: 4 128 random[1024] zeros[1024] 1024
KERNEL scan_up_and_down(const int* a, int* out, int n) {
  __shared__ int s[256];
  const int base = B * 256;
  s[T] = a[base + T];
  s[T + 128] = a[base + T + 128];
  int offset = 1;
  for (int d = 128; d > 0; d /= 2) {
    __syncthreads();                                                        // mutant: barrier
    if (T < d) s[offset * (2 * T + 2) - 1] += s[offset * (2 * T + 1) - 1];  // mutant: bound
    offset *= 2;
  }
  // Harmless: thread 0 alone has written the last word.
  __syncthreads();  // harmless: barrier
  if (T == 0) s[255] = 0;
  for (int d = 1; d < 256; d *= 2) {
    offset /= 2;
    __syncthreads();  // mutant: barrier
    if (T < d) {
      const int left = offset * (2 * T + 1) - 1, right = offset * (2 * T + 2) - 1;
      const int kept = s[left];
      s[left] = s[right];
      s[right] += kept;
    }
  }
  __syncthreads();  // mutant: barrier
  out[base + T] = s[T];
  out[base + T + 128] = s[T + 128];
}

// run: 4 128 random[500] zeros[500] 500
KERNEL scan_by_shuffles(const int* a, int* out, int n) {
  __shared__ int sums[4];
  int value = 0;
  if (I < n) value = a[I];  // mutant: bound
  for (int k = 1; k < 32; k *= 2) {
    const int left = __shfl_up_sync(~0u, value, k);
    if (T % 32 >= k) value += left;
  }
  if (T % 32 == 31) sums[T / 32] = value;
  __syncthreads();  // mutant: barrier
  for (int w = 0; w < T / 32; ++w) value += sums[w];
  if (I < n) out[I] = value;  // mutant: bound
}

// run: 4 128 random[512] zeros[512] zeros[4] zeros[4] 512
KERNEL scan_with_look_back(const int* a, int* out, int* sums, volatile int* flags, int n) {
  __shared__ int s[128];
  __shared__ int before;
  s[T] = a[I];
  __syncthreads();  // mutant: barrier
  if (T == 0) {
    for (int k = 1; k < 128; ++k) s[k] += s[k - 1];
    int sum = 0;
    if (B > 0) {
      while (flags[B - 1] == 0) {
      }
      __threadfence();  // mutant: fence
      sum = sums[B - 1];
    }
    before = sum;
    sums[B] = sum + s[127];
    __threadfence();  // mutant: fence
    flags[B] = 1;
  }
  __syncthreads();  // mutant: barrier
  out[I] = before + s[T];
}

// run: 4 128 random[500] zeros[500] zeros[1] 500
KERNEL chosen_numbers(const int* a, int* out, int* count, int n) {
  __shared__ int counts[4];
  __shared__ int begin;
  int value = 1;
  if (I < n) value = a[I];  // mutant: bound
  const bool chosen = value % 2 == 0;
  const unsigned votes = __ballot_sync(~0u, chosen);
  if (T % 32 == 0) counts[T / 32] = __popc(votes);
  __syncthreads();  // mutant: barrier
  if (T == 0) begin = atomicAdd(count, counts[0] + counts[1] + counts[2] + counts[3]);
  __syncthreads();  // mutant: barrier
  int place = begin + __popc(votes & ((1u << T % 32) - 1));
  for (int w = 0; w < T / 32; ++w) place += counts[w];
  if (chosen) out[place] = value;
}

// run: 4 128 random[512] zeros[512] 512
KERNEL sums_of_segments(const int* a, int* out, int n) {
  __shared__ int s[128];
  __shared__ bool heads[128];
  s[T] = a[I];
  heads[T] = T % 5 == 0;
  __syncthreads();  // mutant: barrier
  for (int k = 1; k < 128; k *= 2) {
    int left = 0;
    bool stop = heads[T];
    if (T >= k && !stop) {
      left = s[T - k];
      stop = heads[T - k];
    }
    __syncthreads();  // mutant: barrier
    s[T] += left;
    heads[T] = stop;
    __syncthreads();  // mutant: barrier
  }
  out[I] = s[T];
}
