// Warp collectives. Membermasks are full or made by a ballot of all lanes.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
#define FULL 0xFFFFFFFFu
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

extern "C" __global__ void shuffle_up(const u32* in, u32* out, u32 delta) {
  const u32 i = INDEX();
  out[4 * i + 0] = __shfl_up_sync(FULL, in[i], delta);
  out[4 * i + 1] = __shfl_up_sync(FULL, in[i], delta, 16);
  out[4 * i + 2] = __shfl_up_sync(FULL, in[i], 3, 8);
  out[4 * i + 3] = __shfl_up_sync(FULL, in[i], 1, 2);
}

extern "C" __global__ void shuffle_down(const u32* in, u32* out, u32 delta) {
  const u32 i = INDEX();
  out[4 * i + 0] = __shfl_down_sync(FULL, in[i], delta);
  out[4 * i + 1] = __shfl_down_sync(FULL, in[i], delta, 16);
  out[4 * i + 2] = __shfl_down_sync(FULL, in[i], 3, 8);
  out[4 * i + 3] = __shfl_down_sync(FULL, in[i], 1, 4);
}

extern "C" __global__ void shuffle_xor(const u32* in, u32* out, u32 mask) {
  const u32 i = INDEX();
  out[4 * i + 0] = __shfl_xor_sync(FULL, in[i], (int)mask);
  out[4 * i + 1] = __shfl_xor_sync(FULL, in[i], 31);
  out[4 * i + 2] = __shfl_xor_sync(FULL, in[i], 4, 8);
  out[4 * i + 3] = __shfl_xor_sync(FULL, in[i], 1);
}

extern "C" __global__ void shuffle_index(const u32* in, const int* from, u32* out, int lane) {
  const u32 i = INDEX();
  out[4 * i + 0] = __shfl_sync(FULL, in[i], from[i]);
  out[4 * i + 1] = __shfl_sync(FULL, in[i], lane);
  out[4 * i + 2] = __shfl_sync(FULL, in[i], from[i], 8);
  out[4 * i + 3] = __shfl_sync(FULL, in[i], 5, 16);
}

extern "C" __global__ void shuffle_types(const double* d, const float* f, const s64* l,
                                         double* out_d, float* out_f, s64* out_l) {
  const u32 i = INDEX();
  out_d[i] = __shfl_xor_sync(FULL, d[i], 7);
  out_f[i] = __shfl_down_sync(FULL, f[i], 2);
  out_l[i] = __shfl_sync(FULL, l[i], (int)(i * 5));
}

// Below 32 threads in the last warp, a mask of exactly those.
extern "C" __global__ void shuffle_partial_warp(const u32* in, u32* out) {
  const u32 i = threadIdx.x, mask = (1u << blockDim.x) - 1;
  out[2 * i + 0] = __shfl_down_sync(mask, in[i], 1);
  out[2 * i + 1] = __shfl_xor_sync(mask, in[i], 1);
}

extern "C" __global__ void warp_reduce(const float* in, float* out, u32 n) {
  const u32 i = INDEX();
  float sum = i < n ? in[i] : 0.0f;
  float most = i < n ? in[i] : -1e30f;
  for (int offset = 16; offset > 0; offset >>= 1) {
    sum += __shfl_down_sync(FULL, sum, offset);
    most = fmaxf(most, __shfl_xor_sync(FULL, most, offset));
  }
  if ((threadIdx.x & 31) == 0) {
    out[2 * (i / 32) + 0] = sum;
    out[2 * (i / 32) + 1] = most;
  }
}

extern "C" __global__ void warp_scan(const u32* in, u32* out) {
  const u32 i = INDEX(), lane = threadIdx.x & 31;
  u32 sum = in[i];
  for (u32 offset = 1; offset < 32; offset *= 2) {
    const u32 below = __shfl_up_sync(FULL, sum, offset);
    if (lane >= offset) sum += below;
  }
  out[i] = sum;
}

// Block-wide: warps scan, their totals go through shared memory.
extern "C" __global__ void block_scan(const u32* in, u32* out, u32* totals, u32 n) {
  __shared__ u32 warp_totals[32];
  const u32 i = INDEX(), lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  u32 sum = i < n ? in[i] : 0;
  for (u32 offset = 1; offset < 32; offset *= 2) {
    const u32 below = __shfl_up_sync(FULL, sum, offset);
    if (lane >= offset) sum += below;
  }
  if (lane == 31) warp_totals[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    u32 total = lane < blockDim.x / 32 ? warp_totals[lane] : 0;
    for (u32 offset = 1; offset < 32; offset *= 2) {
      const u32 below = __shfl_up_sync(FULL, total, offset);
      if (lane >= offset) total += below;
    }
    warp_totals[lane] = total;
  }
  __syncthreads();
  if (warp > 0) sum += warp_totals[warp - 1];
  if (i < n) out[i] = sum;
  if (threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = sum;
}

extern "C" __global__ void votes(const u32* in, u32* out, u32 threshold) {
  const u32 i = INDEX();
  const bool above = in[i] > threshold;
  out[5 * i + 0] = __ballot_sync(FULL, above);
  out[5 * i + 1] = __any_sync(FULL, in[i] == threshold);
  out[5 * i + 2] = __all_sync(FULL, in[i] != 0);
  out[5 * i + 3] = __popc(__ballot_sync(FULL, above) & ((1u << (threadIdx.x & 31)) - 1));
  out[5 * i + 4] = __activemask();
}

// Stream compaction: ranks by ballot, bases by one atomic per warp.
extern "C" __global__ void compaction(const u32* in, u32* out, u32* count, u32 n) {
  const u32 i = INDEX(), lane = threadIdx.x & 31;
  const bool keep = i < n && in[i] % 3 == 0;
  const u32 kept = __ballot_sync(FULL, keep);
  u32 base = 0;
  if (lane == 0) base = atomicAdd(count, (u32)__popc(kept));
  base = __shfl_sync(FULL, base, 0);
  if (keep) out[base + __popc(kept & ((1u << lane) - 1))] = in[i];
}

// Warp-uniform branches: whole warps take different collectives.
extern "C" __global__ void collectives_by_warp(const u32* in, u32* out) {
  const u32 i = INDEX(), warp = threadIdx.x >> 5;
  u32 x = in[i];
  if (warp % 3 == 0) {
    x += __shfl_xor_sync(FULL, x, 16);
  } else if (warp % 3 == 1) {
    for (u32 k = 0; k < warp; ++k) x ^= __shfl_sync(FULL, x, (int)(threadIdx.x + 1));
  } else {
    x = __ballot_sync(FULL, x & 1);
  }
  out[i] = x;
}

extern "C" __global__ void warp_bitonic_sort(u32* data) {
  const u32 i = INDEX(), lane = threadIdx.x & 31;
  u32 x = data[i];
  for (u32 size = 2; size <= 32; size *= 2) {
    for (u32 stride = size / 2; stride > 0; stride /= 2) {
      const u32 other = __shfl_xor_sync(FULL, x, (int)stride);
      const bool lower = (lane & stride) == 0, up = (lane & size) == 0;
      x = lower == up ? min(x, other) : max(x, other);
    }
  }
  data[i] = x;
}

// Flags cut the warp into segments; sums restart at each.
extern "C" __global__ void segmented_scan(const int* in, const u32* flags, int* out) {
  const u32 i = INDEX(), lane = threadIdx.x & 31;
  const u32 heads = __ballot_sync(FULL, flags[i] != 0) | 1u;
  const u32 below = heads & (lane == 31 ? FULL : (2u << lane) - 1);
  const u32 start = 31 - (u32)__clz((int)below);
  int sum = in[i];
  for (u32 offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(FULL, sum, offset);
    if (lane >= start + offset) sum += other;
  }
  out[i] = sum;
}

// A 32x32 bit matrix turned over by ballots, and a loop that runs until all lanes agree.
extern "C" __global__ void bit_transpose(const u32* in, u32* out) {
  const u32 i = INDEX(), lane = threadIdx.x & 31;
  u32 result = 0;
  for (int bit = 0; bit < 32; ++bit) {
    const u32 column = __ballot_sync(FULL, in[i] >> bit & 1);
    if (lane == (u32)bit) result = column;
  }
  out[i] = result;
}

extern "C" __global__ void until_all_agree(const u32* in, u32* out, u32* rounds) {
  const u32 i = INDEX();
  u32 x = in[i], count = 0;
  while (__any_sync(FULL, x > 1)) {
    if (x > 1) x = x & 1 ? x / 3 : x >> 1;
    ++count;
  }
  out[i] = x;
  rounds[i] = count;
}

extern "C" __global__ void matrix_vector(const float* matrix, const float* x, float* y, int rows,
                                         int columns) {
  const int lane = threadIdx.x & 31;
  const int row = (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = lane; c < columns; c += 32) sum = fmaf(matrix[row * columns + c], x[c], sum);
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(FULL, sum, offset);
  if (lane == 0) y[row] = sum;
}

// NaNs as they were loaded keep their bits on their way; those of arithmetic have PTX's.
extern "C" __global__ void shuffle_nans(const float* in, u32* out, u32 n) {
  const u32 i = INDEX();
  const float loaded = in[i], made = loaded * 2.0f;
  float either = loaded;
  if (i % 3 == 0) either = loaded + 1.0f;
  float sum = made;
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(FULL, sum, distance);
  }
  out[i] = __float_as_uint(__shfl_xor_sync(FULL, loaded, 1));
  out[n + i] = __float_as_uint(__shfl_xor_sync(FULL, made, 1));
  out[2 * n + i] = __float_as_uint(__shfl_xor_sync(FULL, i % 5 == 0 ? loaded : made, 1));
  out[3 * n + i] = __float_as_uint(__shfl_xor_sync(FULL, either, 1));
  out[4 * n + i] = __float_as_uint(__shfl_sync(FULL, __shfl_xor_sync(FULL, made, 1), i * 7));
  out[5 * n + i] = __shfl_up_sync(FULL, __float_as_uint(made) >> 1, 1);
  out[6 * n + i] = __float_as_uint(__shfl_sync(FULL, sum, 0));
}
