// Sorts and merges. mutants.h says what the marks mean.
#include "mutants.h"

// run: 4 128 random[512] zeros[512] 512
KERNEL bitonic_sort(const int* a, int* out, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  for (int size = 2; size <= 128; size *= 2) {
    for (int k = size / 2; k > 0; k /= 2) {
      __syncthreads();  // mutant: barrier
      const int other = T ^ k;
      const bool up = (T & size) == 0;
      if (other > T && (s[T] > s[other]) == up) {
        const int kept = s[T];
        s[T] = s[other];
        s[other] = kept;
      }
    }
  }
  __syncthreads();  // mutant: barrier
  out[I] = s[127 - T];
}

// run: 4 64 random[512] zeros[512] 512
KERNEL odd_even_sort(const int* a, int* out, int n) {
  __shared__ int s[128];
  s[T] = a[B * 128 + T];
  s[T + 64] = a[B * 128 + T + 64];
  __syncthreads();  // mutant: barrier
  for (int round = 0; round < 128; ++round) {
    const int left = 2 * T + round % 2;
    if (left < 127) {  // the last thread of odd rounds has no pair
      const int x = s[left], y = s[left + 1];
      s[left] = min(x, y);
      s[left + 1] = max(x, y);
    }
    __syncthreads();  // mutant: barrier
  }
  out[B * 128 + T] = s[T];
  out[B * 128 + T + 64] = s[T + 64];
}

// run: 4 128 random[512] zeros[512] 512
KERNEL sort_by_bits(const int* a, int* out, int n) {
  __shared__ int s[128], ones[128];
  s[T] = a[I];
  for (int bit = 0; bit < 10; ++bit) {
    __syncthreads();  // mutant: barrier
    const int value = s[T], one = value >> bit & 1;
    ones[T] = one;
    __syncthreads();  // mutant: barrier
    for (int k = 1; k < 128; k *= 2) {
      int left = 0;
      if (T >= k) left = ones[T - k];  // mutant: bound
      __syncthreads();                 // mutant: barrier
      ones[T] += left;
      __syncthreads();  // mutant: barrier
    }
    const int zeros = 128 - ones[127];
    const int place = one ? zeros + ones[T] - 1 : T - ones[T];
    s[place] = value;
  }
  __syncthreads();  // mutant: barrier
  out[I] = s[T];
}

// run: 4 128 random[500] zeros[500] 500
KERNEL sort_by_rank(const int* a, int* out, int n) {
  __shared__ int s[128];
  int value = 0, rank = 0;
  if (I < n) value = a[I];  // mutant: bound
  for (int k = 0; k < n; k += 128) {
    s[T] = 0x7fffffff;               // mutant: initialisation
    if (k + T < n) s[T] = a[k + T];  // mutant: bound
    __syncthreads();                 // mutant: barrier
    for (int i = 0; i < 128; ++i) rank += s[i] < value || (s[i] == value && k + i < I);
    __syncthreads();  // mutant: barrier
  }
  if (I < n) out[rank] = value;  // mutant: bound
}

// run: 4 128 random[512] zeros[512] 512
__device__ int rank_in(const int* sorted, int value, bool after_equals) {
  int low = 0, high = 64;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < value || (after_equals && sorted[middle] == value)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
KERNEL merge_of_two_halves(const int* a, int* out, int n) {
  __shared__ int s[128], merged[128];
  s[T] = a[0] + T % 64 * 3 + T / 64;
  __syncthreads();  // mutant: barrier
  const int half = T / 64;
  const int place = T % 64 + rank_in(s + 64 * (1 - half), s[T], half == 1);
  merged[place] = s[T];
  __syncthreads();  // mutant: barrier
  out[I] = merged[T];
}
