// Small whole programs, as users write them.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __global__ void nbody(const float4* bodies, float3* forces, int n) {
  __shared__ float4 tile[64];
  const int i = (int)INDEX();
  const float4 own = i < n ? bodies[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float3 force = make_float3(0.0f, 0.0f, 0.0f);
  for (int start = 0; start < n; start += 64) {
    const int at = start + (int)threadIdx.x;
    tile[threadIdx.x] = at < n ? bodies[at] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 64; ++k) {
      const float4 other = tile[k];
      const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
      const float d2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f)));
      const float scale = other.w / (d2 * sqrtf(d2));
      force.x = fmaf(dx, scale, force.x);
      force.y = fmaf(dy, scale, force.y);
      force.z = fmaf(dz, scale, force.z);
    }
    __syncthreads();
  }
  if (i < n) forces[i] = force;
}

__device__ float normal_cdf(float x) { return 0.5f * erfcf(-0.70710678f * x); }

extern "C" __global__ void black_scholes(const float* price, const float* strike,
                                         const float* years, float* call, float* put, float rate,
                                         float volatility, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const float root = volatility * sqrtf(years[i]);
  const float d1 =
      (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / root;
  const float d2 = d1 - root;
  const float discounted = strike[i] * expf(-rate * years[i]);
  call[i] = price[i] * normal_cdf(d1) - discounted * normal_cdf(d2);
  put[i] = discounted * normal_cdf(-d2) - price[i] * normal_cdf(-d1);
}

extern "C" __global__ void spmv_csr(const int* row_start, const int* column, const float* value,
                                    const float* x, float* y, int rows) {
  const int row = (int)INDEX();
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = row_start[row]; k < row_start[row + 1]; ++k) {
    sum = fmaf(value[k], x[column[k]], sum);
  }
  y[row] = sum;
}

extern "C" __global__ void convolution_rows(const u8* in, float* out, const float* weights,
                                            int radius, int width, int height) {
  extern __shared__ float row[];
  const int y = blockIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = threadIdx.x; k < (int)blockDim.x + 2 * radius; k += blockDim.x) {
    const int from = (int)(blockIdx.x * blockDim.x) + k - radius;
    row[k] = (float)in[y * width + min(max(from, 0), width - 1)];
  }
  __syncthreads();
  if (x >= width) return;
  float sum = 0.0f;
  for (int k = 0; k <= 2 * radius; ++k) sum = fmaf(weights[k], row[threadIdx.x + k], sum);
  out[y * width + x] = sum;
}

extern "C" __global__ void sobel(const u8* in, u8* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
    out[y * width + x] = 0;
    return;
  }
  const u8* p = in + y * width + x;
  const int gx = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[-1 + width];
  const int gy =
      p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[-width + 1];
  const float magnitude = sqrtf((float)(gx * gx + gy * gy));
  out[y * width + x] = magnitude > 255.0f ? 255 : (u8)magnitude;
}

extern "C" __global__ void kmeans_assign(const float* points, const float* centres, int* label,
                                         int dimensions, int clusters, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  float best = 1e30f;
  int best_cluster = -1;
  for (int c = 0; c < clusters; ++c) {
    float distance = 0.0f;
    for (int d = 0; d < dimensions; ++d) {
      const float difference = points[d * n + i] - centres[c * dimensions + d];
      distance = fmaf(difference, difference, distance);
    }
    if (distance < best) {
      best = distance;
      best_cluster = c;
    }
  }
  label[i] = best_cluster;
}

extern "C" __global__ void heat_3d(const float* in, float* out, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  const int plane = nx * ny;
  float below = in[y * nx + x], centre = in[plane + y * nx + x];
  for (int z = 1; z < nz - 1; ++z) {
    const int at = z * plane + y * nx + x;
    const float above = in[at + plane];
    const float sum = in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + below + above;
    out[at] = fmaf(0.1f, sum - 6.0f * centre, centre);
    below = centre;
    centre = above;
  }
}

extern "C" __global__ void fft_256(float2* data, const float2* twiddles) {
  __shared__ float2 tile[256];
  const int t = threadIdx.x;
  for (int half = 0; half < 2; ++half) {
    const int at = t + 128 * half;
    tile[__brev((u32)at) >> 24] = data[blockIdx.x * 256 + at];
  }
  for (int size = 1; size < 256; size *= 2) {
    __syncthreads();
    const int k = t & (size - 1), at = 2 * t - k;
    const float2 w = twiddles[k * (128 / size)], a = tile[at], b = tile[at + size];
    const float2 p = make_float2(fmaf(b.x, w.x, -(b.y * w.y)), fmaf(b.x, w.y, b.y * w.x));
    tile[at] = make_float2(a.x + p.x, a.y + p.y);
    tile[at + size] = make_float2(a.x - p.x, a.y - p.y);
  }
  __syncthreads();
  for (int half = 0; half < 2; ++half) {
    data[blockIdx.x * 256 + t + 128 * half] = tile[t + 128 * half];
  }
}

__constant__ u32 c_sha256[64];

__device__ u32 rotate_right(u32 x, int by) { return x >> by | x << (32 - by); }

// One block of 64 bytes per thread, with its padding already in place.
extern "C" __global__ void sha256(const u32* blocks, u32* digests, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 w[64];
  for (int k = 0; k < 16; ++k) w[k] = __byte_perm(blocks[16 * i + k], 0, 0x0123);
  for (int k = 16; k < 64; ++k) {
    const u32 s0 = rotate_right(w[k - 15], 7) ^ rotate_right(w[k - 15], 18) ^ w[k - 15] >> 3;
    const u32 s1 = rotate_right(w[k - 2], 17) ^ rotate_right(w[k - 2], 19) ^ w[k - 2] >> 10;
    w[k] = w[k - 16] + s0 + w[k - 7] + s1;
  }
  const u32 start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  u32 a = start[0], b = start[1], c = start[2], d = start[3];
  u32 e = start[4], f = start[5], g = start[6], h = start[7];
  for (int k = 0; k < 64; ++k) {
    const u32 s1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    const u32 t1 = h + s1 + ((e & f) ^ (~e & g)) + c_sha256[k] + w[k];
    const u32 s0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    const u32 t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const u32 end[8] = {a, b, c, d, e, f, g, h};
  for (int k = 0; k < 8; ++k) digests[8 * i + k] = start[k] + end[k];
}

extern "C" __global__ void floyd_warshall_step(int* distance, int n, int through) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  const int detour = distance[row * n + through] + distance[through * n + column];
  if (detour < distance[row * n + column]) distance[row * n + column] = detour;
}

// Longest common subsequence of two strings, one anti-diagonal at a time.
extern "C" __global__ void common_subsequence(const char* a, const char* b, int* length, int n) {
  __shared__ int diagonals[3][97];
  const int t = threadIdx.x;
  const char* left = a + blockIdx.x * n;
  const char* right = b + blockIdx.x * n;
  for (int k = 0; k < 3; ++k) diagonals[k][t] = 0;
  if (t == 0) diagonals[0][n] = diagonals[1][n] = diagonals[2][n] = 0;
  __syncthreads();
  int current = 2;
  for (int d = 0; d < 2 * n - 1; ++d) {
    const int column = d - t;
    int* now = diagonals[current];
    const int* previous = diagonals[(current + 2) % 3];
    const int* before = diagonals[(current + 1) % 3];
    if (column >= 0 && column < n) {
      const int up = previous[t], beside = column > 0 ? previous[t + 1] : 0;
      const int corner = column > 0 ? before[t] : 0;
      now[t + 1] = left[t] == right[column] ? corner + 1 : max(up, beside);
    }
    __syncthreads();
    current = (current + 1) % 3;
  }
  if (t == 0) length[blockIdx.x] = diagonals[(current + 2) % 3][n];
}

// Random walks by a linear congruential generator; counts hits of a quarter circle.
extern "C" __global__ void monte_carlo(const u64* seeds, u32* hits, int samples, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u64 state = seeds[i];
  u32 count = 0;
  for (int k = 0; k < samples; ++k) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const float x = (float)(u32)(state >> 40) * 5.9604645e-8f;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const float y = (float)(u32)(state >> 40) * 5.9604645e-8f;
    if (fmaf(x, x, y * y) < 1.0f) ++count;
  }
  hits[i] = count;
}

extern "C" __global__ void binary_search(const int* sorted, int size, const int* needles,
                                         int* found, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  int low = 0, high = size;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (sorted[middle] < needles[i]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  found[i] = low;
}

extern "C" __global__ void softmax_rows(const float* in, float* out, int columns) {
  __shared__ float partial[128];
  const int t = threadIdx.x;
  const float* row = in + blockIdx.x * columns;
  float most = -1e30f;
  for (int c = t; c < columns; c += 128) most = fmaxf(most, row[c]);
  partial[t] = most;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) partial[t] = fmaxf(partial[t], partial[t + half]);
    __syncthreads();
  }
  most = partial[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = t; c < columns; c += 128) sum += expf(row[c] - most);
  partial[t] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  for (int c = t; c < columns; c += 128) {
    out[blockIdx.x * columns + c] = expf(row[c] - most) / partial[0];
  }
}
