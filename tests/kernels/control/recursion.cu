// Functions that call themselves, and each other.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned int u32;

__device__ __noinline__ u32 fibonacci(u32 n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ u32 ackermann(u32 m, u32 n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[2 * i + 0] = fibonacci(i % 15);
  out[2 * i + 1] = ackermann(i % 3, i % 5);
}

__device__ __noinline__ bool is_even(u32 n);
__device__ __noinline__ bool is_odd(u32 n) { return n == 0 ? false : is_even(n - 1); }
__device__ __noinline__ bool is_even(u32 n) { return n == 0 ? true : is_odd(n - 1); }

extern "C" __global__ void mutual_recursion(u32* out, u32 n) {
  const u32 i = INDEX();
  if (i < n) out[i] = (is_even(i % 23) ? 1 : 0) | (is_odd(i % 17) ? 2 : 0);
}

// Every activation has an array of its own, of which its callees know the address.
__device__ __noinline__ u32 permutations(u32* above, u32 depth, u32 size) {
  if (depth == size) {
    u32 inversions = 0;
    for (u32 a = 0; a < size; ++a) {
      for (u32 b = a + 1; b < size; ++b) inversions += above[a] > above[b];
    }
    return 1 + (inversions % 2 << 16);
  }
  u32 own[7], total = 0;
  for (u32 k = 0; k < size; ++k) own[k] = above[k];
  own[6] = 0;
  for (u32 k = depth; k < size; ++k) {
    const u32 swapped = own[depth];
    own[depth] = own[k];
    own[k] = swapped;
    total += permutations(own, depth + 1, size);
  }
  above[6] += own[6] == (depth + 1 == size ? 0 : size - depth) ? 1 : 1000;
  return total;
}

// Low half: number of permutations, high half: how many of them are odd.
extern "C" __global__ void own_arrays(u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 numbers[7] = {0, 1, 2, 3, 4, 5, 0};
  out[i] = permutations(numbers, 0, i % 7) + (numbers[6] << 28);
}

struct Range {
  u32 low, high;
  double weight;
};

// Structures by value, in and out; what is live across the calls has many types.
__device__ __noinline__ Range merged(Range range, const u32* data) {
  if (range.high - range.low == 1) {
    range.weight = data[range.low];
    return range;
  }
  const u32 middle = (range.low + range.high) / 2;
  const bool is_wide = range.high - range.low > 4;
  const Range left = merged({range.low, middle, range.weight}, data);
  const Range right = merged({middle, range.high, range.weight}, data);
  const double sum = left.weight + right.weight;
  return {left.low, right.high, is_wide ? sum + range.weight : sum};
}

extern "C" __global__ void structures(double* out, const u32* data, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const Range range = merged({0, 1 + i % 40, 0.5}, data);
  out[i] = range.weight + 1000 * (range.high - range.low);
}

// Lanes are at different depths when they meet.
__device__ __noinline__ u32 sum_of_warp(u32 depth, u32 lane) {
  if (depth == 0) return __reduce_add_sync(0xFFFFFFFFu, lane);
  return sum_of_warp(depth - 1, lane) + 1;
}

extern "C" __global__ void meeting(u32* out) {
  out[threadIdx.x] = sum_of_warp(threadIdx.x % 5, threadIdx.x);
}

__device__ __noinline__ u32 endless(u32 n) {
  return n == 0xFFFFFFFFu ? n : endless(n + 2) ^ endless(n + 4);
}

extern "C" __global__ void too_deep(u32* out) { out[threadIdx.x] = endless(threadIdx.x * 2); }

// Each activation keeps more than 64 bytes, and lanes go to different depths.
__device__ __noinline__ u32 summed(u32 n, const u32* above) {
  u32 own[16];
  for (u32 k = 0; k < 16; ++k) own[k] = above[k] + k;
  if (n == 0) return own[n % 16];
  const u32 below = summed(n - 1, own);
  return below + own[n % 16] % 7;
}

extern "C" __global__ void deep(u32* out, u32 depth) {
  const u32 i = INDEX();
  u32 start[16];
  for (u32 k = 0; k < 16; ++k) start[k] = i % 5 + k;
  out[i] = summed(depth + i % 3, start);
}

extern "C" __global__ void deep_between_barriers(u32* out, u32 depth) {
  extern __shared__ u32 sums[];
  u32 start[16];
  for (u32 k = 0; k < 16; ++k) start[k] = threadIdx.x % 5 + k;
  sums[threadIdx.x] = summed(depth, start);
  __syncthreads();
  const u32 next = sums[(threadIdx.x + 1) % blockDim.x];
  __syncthreads();
  start[0] = next;
  out[INDEX()] = summed(depth, start) + next;
}
