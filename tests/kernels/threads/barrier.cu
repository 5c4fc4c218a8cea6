// Shared memory and barriers: in loops, in called functions, after early exits, in many shapes.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __global__ void tree_reduction(const float* in, float* sums, u32 n) {
  __shared__ float tile[256];
  const u32 t = threadIdx.x, i = INDEX();
  tile[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (u32 half = blockDim.x / 2; half > 0; half >>= 1) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = tile[0];
}

// Interleaved addressing: divergent in every warp, bank conflicts on a GPU.
extern "C" __global__ void strided_reduction(const u32* in, u32* sums, u32 n) {
  extern __shared__ u32 dynamic_u32[];
  const u32 t = threadIdx.x, i = INDEX();
  dynamic_u32[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (u32 stride = 1; stride < blockDim.x; stride *= 2) {
    if (t % (2 * stride) == 0 && t + stride < blockDim.x) dynamic_u32[t] += dynamic_u32[t + stride];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = dynamic_u32[0];
}

extern "C" __global__ void hillis_steele_scan(const u32* in, u32* out, u32 n) {
  __shared__ u32 buffers[2][192];
  const u32 t = threadIdx.x, i = INDEX();
  int from = 0;
  buffers[0][t] = i < n ? in[i] : 0;
  __syncthreads();
  for (u32 offset = 1; offset < blockDim.x; offset *= 2) {
    const u32 own = buffers[from][t];
    buffers[1 - from][t] = t >= offset ? own + buffers[from][t - offset] : own;
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) out[i] = buffers[from][t];
}

extern "C" __global__ void blelloch_scan(const int* in, int* out) {
  __shared__ int tree[512];
  const u32 t = threadIdx.x, base = blockIdx.x * 512;
  tree[2 * t] = in[base + 2 * t];
  tree[2 * t + 1] = in[base + 2 * t + 1];
  u32 offset = 1;
  for (u32 d = 256; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) tree[511] = 0;
  for (u32 d = 1; d < 512; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const u32 left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      const int swap = tree[left];
      tree[left] = tree[right];
      tree[right] += swap;
    }
  }
  __syncthreads();
  out[base + 2 * t] = tree[2 * t];
  out[base + 2 * t + 1] = tree[2 * t + 1];
}

extern "C" __global__ void bitonic_sort(u32* data) {
  __shared__ u32 tile[512];
  const u32 t = threadIdx.x;
  tile[t] = data[blockIdx.x * 512 + t];
  tile[t + 256] = data[blockIdx.x * 512 + t + 256];
  for (u32 size = 2; size <= 512; size *= 2) {
    for (u32 stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const u32 at = 2 * t - (t & (stride - 1));
      const bool up = (at & size) == 0;
      const u32 a = tile[at], b = tile[at + stride];
      if ((a > b) == up) {
        tile[at] = b;
        tile[at + stride] = a;
      }
    }
  }
  __syncthreads();
  data[blockIdx.x * 512 + t] = tile[t];
  data[blockIdx.x * 512 + t + 256] = tile[t + 256];
}

template <int kTile>
__device__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int start = 0; start < k; start += kTile) {
    const int ka = start + threadIdx.x, kb = start + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
    bs[threadIdx.y][threadIdx.x] = kb < k && column < n ? b[kb * n + column] : 0.0f;
    __syncthreads();
    for (int p = 0; p < kTile; ++p) sum = fmaf(as[threadIdx.y][p], bs[p][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

extern "C" __global__ void matmul_tile16(const float* a, const float* b, float* c, int m, int n,
                                         int k) {
  matmul<16>(a, b, c, m, n, k);
}

extern "C" __global__ void matmul_tile32(const float* a, const float* b, float* c, int m, int n,
                                         int k) {
  matmul<32>(a, b, c, m, n, k);
}

extern "C" __global__ void transpose(const u32* in, u32* out, int width, int height) {
  __shared__ u32 tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += blockDim.y) {
    const int y = blockIdx.y * 32 + k;
    if (x < width && y < height) tile[k][threadIdx.x] = in[y * width + x];
  }
  __syncthreads();
  const int tx = blockIdx.y * 32 + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += blockDim.y) {
    const int ty = blockIdx.x * 32 + k;
    if (tx < height && ty < width) out[ty * height + tx] = tile[threadIdx.x][k];
  }
}

extern "C" __global__ void stencil_1d(const float* in, float* out, int n) {
  const int radius = 4;
  __shared__ float tile[128 + 2 * 4];
  const int i = (int)INDEX(), t = threadIdx.x + radius;
  tile[t] = i < n ? in[i] : 0.0f;
  if (threadIdx.x < radius) {
    tile[t - radius] = i >= radius ? in[i - radius] : 0.0f;
    tile[t + 128] = i + 128 < n ? in[i + 128] : 0.0f;
  }
  __syncthreads();
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = -radius; k <= radius; ++k) sum += tile[t + k] * (float)(k + 5);
  out[i] = sum;
}

extern "C" __global__ void stencil_2d(const float* in, float* out, int width, int height,
                                      int steps) {
  __shared__ float tile[18][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 18 * 18; k += 256) {
    const int gx = blockIdx.x * 16 + k % 18 - 1, gy = blockIdx.y * 16 + k / 18 - 1;
    const bool inside = gx >= 0 && gy >= 0 && gx < width && gy < height;
    tile[k / 18][k % 18] = inside ? in[gy * width + gx] : 0.0f;
  }
  __syncthreads();
  float value = tile[threadIdx.y + 1][threadIdx.x + 1];
  for (int s = 0; s < steps; ++s) {
    const float sum = tile[threadIdx.y][threadIdx.x + 1] + tile[threadIdx.y + 2][threadIdx.x + 1] +
                      tile[threadIdx.y + 1][threadIdx.x] + tile[threadIdx.y + 1][threadIdx.x + 2];
    value = fmaf(0.2f, sum - 4.0f * value, value);
    __syncthreads();
    tile[threadIdx.y + 1][threadIdx.x + 1] = value;
    __syncthreads();
  }
  if (x < width && y < height) out[y * width + x] = value;
}

// Threads beyond n leave before the barriers: exited threads count as arrived.
extern "C" __global__ void early_exit(const u32* in, u32* out, u32 n) {
  __shared__ u32 tile[128];
  const u32 i = INDEX(), t = threadIdx.x;
  if (i >= n) return;
  tile[t] = in[i];
  __syncthreads();
  const u32 last = min(n - blockIdx.x * blockDim.x, blockDim.x) - 1;
  u32 value = tile[last - t];
  __syncthreads();
  tile[t] = value * 3;
  __syncthreads();
  out[i] = tile[t == last ? 0 : t + 1];
}

__device__ __noinline__ u32 rotate_through_shared(u32* tile, u32 value, u32 by) {
  const u32 t = threadIdx.x;
  tile[t] = value;
  __syncthreads();
  const u32 result = tile[(t + by) % blockDim.x];
  __syncthreads();
  return result;
}

// The barrier is in a called function, the call in a loop whose count comes from memory.
extern "C" __global__ void barrier_in_function(const u32* in, const u32* rounds, u32* out) {
  __shared__ u32 tile[96];
  u32 value = in[INDEX()];
  const u32 count = rounds[blockIdx.x];
  for (u32 k = 0; k < count; ++k) value = rotate_through_shared(tile, value + k, k + 1);
  out[INDEX()] = value;
}

// Every block takes another path; the barriers of each path are its own.
extern "C" __global__ void barriers_by_block(u32* data) {
  __shared__ u32 tile[64];
  const u32 t = threadIdx.x;
  tile[t] = data[blockIdx.x * 64 + t];
  __syncthreads();
  if (blockIdx.x % 3 == 0) {
    const u32 other = tile[63 - t];
    __syncthreads();
    tile[t] = other;
  } else if (blockIdx.x % 3 == 1) {
    for (u32 k = 0; k < blockIdx.x; ++k) {
      const u32 other = tile[(t + 1) & 63];
      __syncthreads();
      tile[t] = other + k;
      __syncthreads();
    }
  }
  __syncthreads();
  data[blockIdx.x * 64 + t] = tile[t ^ 1];
}

// The loop ends when all threads agree, by a value that went through shared memory.
extern "C" __global__ void until_converged(const int* in, int* out, int* rounds) {
  __shared__ int tile[160];
  __shared__ int changed;
  const int t = threadIdx.x, n = blockDim.x;
  tile[t] = in[blockIdx.x * n + t];
  int count = 0;
  while (true) {
    if (t == 0) changed = 0;
    __syncthreads();
    int swap_with = -1;
    if (t % 2 == count % 2 && t + 1 < n && tile[t] > tile[t + 1]) swap_with = t + 1;
    if (swap_with >= 0) {
      const int swap = tile[t];
      tile[t] = tile[swap_with];
      tile[swap_with] = swap;
      changed = 1;
    }
    ++count;
    __syncthreads();
    const int go_on = changed;
    __syncthreads();
    if (!go_on && count > n) break;
  }
  out[blockIdx.x * n + t] = tile[t];
  if (t == 0) rounds[blockIdx.x] = count;
}

extern "C" __global__ void votes_of_block(const int* in, int* out, int n) {
  const int i = (int)INDEX();
  const int value = i < n ? in[i] : 0;
  const int count = __syncthreads_count(value > 10);
  const int all = __syncthreads_and(value >= 0);
  const int any = __syncthreads_or(value == 77);
  if (i < n) out[i] = count | all << 16 | any << 17;
}

extern "C" __global__ void histogram(const u8* in, u32* bins, u32 n) {
  __shared__ u32 local[256];
  for (u32 k = threadIdx.x; k < 256; k += blockDim.x) local[k] = 0;
  __syncthreads();
  for (u32 i = INDEX(); i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  for (u32 k = threadIdx.x; k < 256; k += blockDim.x) {
    if (local[k] != 0) atomicAdd(&bins[k], local[k]);
  }
}

extern "C" __global__ void dynamic_shared(const double* in, double* out, int n, int shift) {
  extern __shared__ double dynamic_f64[];
  int* order = (int*)(dynamic_f64 + blockDim.x);
  const int t = threadIdx.x, i = (int)INDEX();
  dynamic_f64[t] = i < n ? in[i] : -1.0;
  order[t] = (t * 7 + shift) % blockDim.x;
  __syncthreads();
  if (i < n) out[i] = dynamic_f64[order[t]] + (double)order[(t + 1) % blockDim.x];
}

// Uses all of a large dynamic allocation (above 48 KB by attribute).
extern "C" __global__ void large_shared(const u32* in, u32* out, u32 words) {
  extern __shared__ u32 dynamic_u32[];
  for (u32 k = threadIdx.x; k < words; k += blockDim.x) {
    dynamic_u32[k] = in[blockIdx.x * words + k];
  }
  __syncthreads();
  for (u32 k = threadIdx.x; k < words; k += blockDim.x) {
    out[blockIdx.x * words + k] = dynamic_u32[words - 1 - k] + dynamic_u32[(k * 977u) % words];
  }
}

extern "C" __global__ void game_of_life(const u8* in, u8* out, int generations) {
  __shared__ u8 world[2][32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const u32 at = (blockIdx.x * 32 + y) * 32 + x;
  world[0][y][x] = in[at];
  int now = 0;
  for (int g = 0; g < generations; ++g) {
    __syncthreads();
    int alive = 0;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if (dx != 0 || dy != 0) alive += world[now][(y + dy) & 31][(x + dx) & 31];
      }
    }
    world[1 - now][y][x] = alive == 3 || (alive == 2 && world[now][y][x]);
    now = 1 - now;
  }
  out[at] = world[now][y][x];
}

// Two-dimensional, 1 to 3 rows to a warp, some warps partly empty.
extern "C" __global__ void row_sums(const int* in, int* out) {
  __shared__ int tile[12 * 20];
  const int x = threadIdx.x, y = threadIdx.y, w = blockDim.x;
  tile[y * w + x] = in[(blockIdx.x * blockDim.y + y) * w + x];
  __syncthreads();
  if (x == 0) {
    int sum = 0;
    for (int k = 0; k < w; ++k) sum += tile[y * w + k] * (k + 1);
    tile[y * w] = sum;
  }
  __syncthreads();
  out[(blockIdx.x * blockDim.y + y) * w + x] = tile[y * w] - x;
}

extern "C" __global__ void radix_split(u32* keys, int bits) {
  __shared__ u32 tile[256];
  __shared__ u32 zeros[256];
  const u32 t = threadIdx.x;
  tile[t] = keys[blockIdx.x * 256 + t];
  for (int b = 0; b < bits; ++b) {
    __syncthreads();
    const u32 key = tile[t], bit = key >> b & 1;
    zeros[t] = 1 - bit;
    __syncthreads();
    for (u32 offset = 1; offset < 256; offset *= 2) {
      const u32 add = t >= offset ? zeros[t - offset] : 0;
      __syncthreads();
      zeros[t] += add;
      __syncthreads();
    }
    const u32 total = zeros[255], before = zeros[t] - (1 - bit);
    __syncthreads();
    tile[bit ? total + t - before : before] = key;
  }
  __syncthreads();
  keys[blockIdx.x * 256 + t] = tile[t];
}

// What only the first threads of a block do between two barriers, and what looks like it.
extern "C" __global__ void low_threads(u32* out, int n) {
  __shared__ u32 cells[1024];
  const u32 t = threadIdx.x, own = threadIdx.y * blockDim.x + t;
  const int index = (int)t;
  cells[own] = 0;
  __syncthreads();
  if (t < 40) cells[own] += 1;
  __syncthreads();
  if (index < n) cells[own] += 2;
  __syncthreads();
  if (t <= (u32)n) cells[own] += 4;
  __syncthreads();
  if (t == 0) cells[own] += 8;
  __syncthreads();
  if (index >= n) cells[own] += 16;
  __syncthreads();
  if (t != 0) cells[own] += 32;
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < 3; ++k) {
    if (index < n * k) cells[own] += 64;
  }
  __syncthreads();
  u32 kept = t;
  if (index < n) kept = cells[own] & 2;
  __syncthreads();
  cells[own] += kept << 8;
  __syncthreads();
  if (index < n) {
    if (t % 3 == 0) cells[own] += 1 << 20;
  } else {
    cells[own] += 1 << 21;
  }
  __syncthreads();
  if (index < n) cells[own] += 1 << 22;
  if (index < 2 * n) cells[own] += 1 << 23;
  __syncthreads();
  for (int distance = 64; distance > 0; distance /= 2) {
    if (index < distance) cells[own] += 1 << 24;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x * blockDim.y + own] = cells[own];
}

// So many of the first threads as are known when code is made, and what few of them stored, read
// by others in other pieces.
template <typename T>
__device__ void fold(const T* in, T* out) {
  __shared__ T cells[128];
  const u32 t = threadIdx.x;
  const int index = static_cast<int>(t);
  cells[t] = in[t];
  __syncthreads();
  if (t < 64) cells[t] += cells[t + 64];
  __syncthreads();
  if (index < 33) cells[t] += 3 * cells[t + 33];
  __syncthreads();
  if (index < 7) cells[t] += cells[t + 7];
  __syncthreads();
  if (t <= 31) cells[t] += cells[t + 32];
  __syncthreads();
  if (!(index >= 16)) cells[t] += cells[t + 16];
  __syncthreads();
  if (!(t > 7)) cells[t] += cells[t + 8];
  __syncthreads();
  if (t < 4) cells[t] += cells[t + 4];
  __syncthreads();
  if (t < 2) cells[t + 20] = cells[t] + cells[t + 2];
  __syncthreads();
  if (t < 4) cells[t] += cells[t + 19];
  __syncthreads();
  if (t < 2) cells[t] += cells[t + 21];
  __syncthreads();
  if (t == 0) cells[3] = cells[0] + cells[1];
  __syncthreads();
  out[t] = cells[t];
}

extern "C" __global__ void fold_u8(const u8* in, u8* out) { fold(in, out); }
extern "C" __global__ void fold_u16(const u16* in, u16* out) { fold(in, out); }
extern "C" __global__ void fold_f32(const float* in, float* out) { fold(in, out); }
extern "C" __global__ void fold_u64(const u64* in, u64* out) { fold(in, out); }

// Whole warps that end before barriers which the others come to.
extern "C" __global__ void early_warps(const u32* in, u32* out, u32 n) {
  __shared__ u32 cells[256];
  const u32 t = threadIdx.x;
  cells[t] = 7;
  __syncthreads();
  if (t >= 128) return;
  cells[t] = in[t];
  __syncthreads();
  u32 sum = cells[127 - t];
  if (t / 32 == n) return;
  __syncthreads();
  for (u32 k = 1; k < 3; ++k) {
    if (t < 32 && k == n) return;
    cells[t] = sum + k;
    __syncthreads();
    sum += cells[t ^ 1];
    __syncthreads();
  }
  out[t] = sum;
}

// Rows of a tile, a thread's row by its own index: several packets at a time.
extern "C" __global__ void sums_of_rows(float* out, int row_words, int rounds) {
  __shared__ float rows[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0.0f;
  for (int round = 0; round < rounds; ++round) {
    rows[y][x] = (float)(round + x + y);
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += (&rows[0][0])[y * row_words + k] * rows[k][x];
    __syncthreads();
  }
  out[y * 16 + x] = sum;
}

// Pointers that move on in each round: forwards, backwards, by what the launch says, and on their
// way between two loops.
extern "C" __global__ void moving_pointers(const u32* in, u32* out, int step, int rounds) {
  __shared__ u32 cells[128];
  const u32 t = threadIdx.y * blockDim.x + threadIdx.x;
  const u32 *forwards = in + t, *backwards = in + 4095 - t, *by_step = in + 2 * t + 100;
  u32 *to = out + t, sum = 0;
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
      cells[t] = *forwards + 3 * *backwards;
      __syncthreads();
      sum = sum * 5 + cells[127 - t] + *by_step;
      by_step += step;
      sum ^= *by_step;
      __syncthreads();
      *to = sum;
      forwards += 128;
      backwards -= 64;
      to += 128;
    }
    by_step += 1 + half;
    __syncthreads();
  }
}
