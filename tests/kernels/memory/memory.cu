// Loads and stores of every shape and state space, addressing, constants, globals, local arrays.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

extern "C" __global__ void vector_float4(const float4* in, float4* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const float4 v = in[i];
  out[n - 1 - i] = make_float4(v.w, v.x + v.y, v.z * 2.0f, v.y);
}

extern "C" __global__ void vector_small(const uchar4* bytes, const short2* shorts, uchar4* out,
                                        int* sums, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const uchar4 b = bytes[i];
  const short2 s = shorts[i];
  out[i] = make_uchar4(b.w, b.z, b.y, b.x);
  sums[i] = b.x + b.y - b.z + b.w + s.x * 3 - s.y;
}

extern "C" __global__ void vector_wide(const double2* in, longlong2* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const double2 v = in[i];
  out[i].x = __double_as_longlong(v.y);
  out[i].y = __double_as_longlong(v.x) ^ 1;
}

struct Particle {
  float x, y, z;
  u8 kind;
  u16 id;
  double mass;
};

extern "C" __global__ void structures(const Particle* in, Particle* out, const u32* order, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  Particle p = in[order[i]];
  p.x += 1.0f;
  p.kind = (u8)(p.kind ^ 0x5A);
  p.id = (u16)(p.id + i);
  p.mass *= 0.5;
  out[i] = p;
}

extern "C" __global__ void soa_to_aos(const float* x, const float* y, const float* z, float* out,
                                      u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[3 * i + 0] = x[i];
  out[3 * i + 1] = y[i];
  out[3 * i + 2] = z[i];
}

extern "C" __global__ void read_only_gather(const float* __restrict__ table,
                                            const int* __restrict__ index, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[i] = __ldg(&table[index[i]]) + __ldg(table + (index[i] ^ 1));
}

extern "C" __global__ void scatter(const u32* index, const u32* value, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i < n && (value[i] & 3) != 0) out[index[i]] = value[i];
}

// Every other element, backwards, and a stride that is a run-time value.
extern "C" __global__ void strides(const u32* in, u32* out, u32 stride, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[i] = in[2 * i] + in[2 * n - 1 - i] * 3 + in[(i * stride) % (2 * n)];
}

// More accesses with a distance between lanes than are made without calls.
extern "C" __global__ void many_apart(const u32* in, u32* out, const u16* halves, u16* out_halves,
                                      u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
#pragma unroll
  for (u32 k = 0; k < 41; ++k) out[i * 43 + k] = in[i * 43 + (k + 1) % 41] + k;
#pragma unroll
  for (u32 k = 0; k < 17; ++k) out_halves[i * 19 + k] = halves[i * 19 + (k + 1) % 17] ^ i;
}

// Overlapping reads at odd offsets, bytes that share words with neighbours' stores.
extern "C" __global__ void byte_neighbours(const u8* in, u8* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u8 left = i > 0 ? in[i - 1] : 0;
  const u8 right = i + 1 < n ? in[i + 1] : 0;
  if (i % 3 != 1) out[i] = (u8)(left + 2 * in[i] + right);
}

struct Matrix {
  float m[9];
  int flags[2];
  double scale;
};

extern "C" __global__ void structure_argument(Matrix matrix, const float* in, float* out,
                                              signed char sign, short bias, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const float x = in[3 * i], y = in[3 * i + 1], z = in[3 * i + 2];
  for (int row = 0; row < 3; ++row) {
    const float* r = matrix.m + 3 * row;
    float sum = fmaf(r[0], x, fmaf(r[1], y, r[2] * z));
    if (matrix.flags[row & 1] & (1 << (i & 7))) sum = -sum;
    out[3 * i + row] = (float)(sum * matrix.scale) * (float)sign + (float)bias;
  }
}

__constant__ float c_weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
__constant__ int c_table[256];

extern "C" __global__ void constant_memory(const u8* in, float* out, int* looked_up, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = -2; k <= 2; ++k) {
    const int at = min(max((int)i + k, 0), (int)n - 1);
    sum = fmaf(c_weights[k + 2], (float)in[at], sum);
  }
  out[i] = sum;
  looked_up[i] = c_table[in[i]];
}

__device__ int g_counter = 41;
__device__ float g_values[4] = {1.5f, -2.5f, 3.25f, 1e-40f};
__device__ const char g_text[] = "kernelmill";
__device__ int g_array[8] = {10, 11, 12, 13, 14, 15, 16, 17};
__device__ int* g_pointer = &g_array[3];
__device__ const void* g_addresses[3] = {&g_counter, g_values + 2, g_text + 6};
__device__ s64 g_wide = -1234567890123456789ll;

extern "C" __global__ void global_initialisers(int* ints, float* floats, s64* wide) {
  const u32 i = threadIdx.x;
  if (i == 0) ints[0] = g_counter + *(const int*)g_addresses[0];
  if (i == 1) ints[1] = *g_pointer + g_pointer[2] * 100;
  if (i == 2) ints[2] = *(const char*)g_addresses[2];
  if (i < 4) floats[i] = g_values[i];
  if (i == 3) floats[4] = *(const float*)g_addresses[1];
  if (i < 11) ints[3 + i] = g_text[i];
  if (i == 5) *wide = g_wide;
}

extern "C" __global__ void global_update(int amount) {
  if (threadIdx.x == 0) {
    g_counter += amount;
    g_pointer = &g_array[amount & 7];
  }
  if (threadIdx.x < 8) g_array[threadIdx.x] *= 2;
}

// Local memory: written and read at indices that only the data knows.
extern "C" __global__ void local_array(const u32* in, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 bins[16];
  for (int k = 0; k < 16; ++k) bins[k] = k;
  u32 x = in[i];
  for (int k = 0; k < 20; ++k) {
    bins[x & 15] += x >> 8;
    x = x * 1664525u + 1013904223u;
  }
  u32 sum = 0;
  for (int k = 0; k < 16; ++k) sum = sum * 31 + bins[(k + (in[i] >> 4)) & 15];
  out[i] = sum;
}

// The address of a local array escapes into a function.
__device__ __noinline__ void reverse_bytes(u8* data, int length) {
  for (int k = 0; k < length / 2; ++k) {
    const u8 swap = data[k];
    data[k] = data[length - 1 - k];
    data[length - 1 - k] = swap;
  }
}

extern "C" __global__ void local_escapes(const u8* in, u8* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u8 buffer[13];
  const int length = 3 + (int)(i % 11);
  for (int k = 0; k < 13; ++k) buffer[k] = in[13 * i + k];
  reverse_bytes(buffer, length);
  for (int k = 0; k < 13; ++k) out[13 * i + k] = buffer[k];
}

// Insertion sort in registers or local memory, divergent inner loops.
extern "C" __global__ void local_sort(const int* in, int* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  int v[12];
  for (int k = 0; k < 12; ++k) v[k] = in[12 * i + k];
  for (int k = 1; k < 12; ++k) {
    const int x = v[k];
    int j = k - 1;
    while (j >= 0 && v[j] > x) {
      v[j + 1] = v[j];
      --j;
    }
    v[j + 1] = x;
  }
  for (int k = 0; k < 12; ++k) out[12 * i + k] = v[k];
}

// 32-bit index arithmetic wraps: neighbouring threads may be far apart.
extern "C" __global__ void index_wraps(const u32* in, u32* out, u32 base, u32 mask, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u32 at = (base + i * 3u) & mask;
  out[i] = in[at];
}

extern "C" __global__ void index_wraps_to_zero(const u32* in, u32* out, u32 base, u32 n) {
  const u32 i = INDEX();
  const u32 wrapped = base + i;
  if (wrapped < n) out[wrapped] = in[wrapped] + 1;
}

extern "C" __global__ void index_signed_wrap(const u32* in, u32* out, int base, int n) {
  const int i = (int)INDEX();
  const int wrapped = (int)((u32)base + (u32)i);
  if (wrapped >= -n && wrapped < n) out[wrapped + n] = in[wrapped + n] ^ 0xFFu;
}

extern "C" __global__ void index_64bit(const u8* in, u8* out, s64 pitch, s64 rows, s64 columns) {
  const s64 i = (s64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  const s64 row = i / columns, column = i % columns;
  out[row * pitch + column] = in[(rows - 1 - row) * pitch + column];
}

extern "C" __global__ void grid_stride(const float* x, float* y, float a, u32 n) {
  for (u32 i = INDEX(); i < n; i += gridDim.x * blockDim.x) y[i] = fmaf(a, x[i], y[i]);
}

extern "C" __global__ void three_dimensions(u32* out, u32 nx, u32 ny, u32 nz) {
  const u32 x = blockIdx.x * blockDim.x + threadIdx.x;
  const u32 y = blockIdx.y * blockDim.y + threadIdx.y;
  const u32 z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < nx && y < ny && z < nz) {
    out[(z * ny + y) * nx + x] =
        x | y << 8 | z << 16 | (blockIdx.x + blockIdx.y + blockIdx.z) << 24;
  }
}

extern "C" __global__ void special_registers(u32* out) {
  const u32 thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const u32 threads = blockDim.x * blockDim.y * blockDim.z;
  const u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  u32 lane, warp;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  u32* row = out + (block * threads + thread) * 4;
  row[0] = thread;
  row[1] = lane;
  row[2] = warp;
  row[3] = gridDim.x | gridDim.y << 8 | gridDim.z << 16;
}

extern "C" __global__ void volatile_accesses(volatile u32* data, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  data[i] = data[i] + 1;
  data[i] = data[i] * 2;
}

template <class T, int kRadius>
__device__ T window_sum(const T* in, int i, int n) {
  T sum = 0;
  for (int k = -kRadius; k <= kRadius; ++k) {
    if (i + k >= 0 && i + k < n) sum += in[i + k];
  }
  return sum;
}

extern "C" __global__ void templates(const int* a, const double* b, int* out_a, double* out_b,
                                     int n) {
  const int i = (int)INDEX();
  if (i >= n) return;
  out_a[i] = window_sum<int, 3>(a, i, n);
  out_b[i] = window_sum<double, 2>(b, i, n);
}

// Elements by an index of each thread's own, which is signed, unsigned, or counts bytes.
extern "C" __global__ void picked(const u32* in, const int* index, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i < n) out[i] = in[index[i]];
}

extern "C" __global__ void picked_unsigned(const u64* in, const u32* index, u64* out, u32 n) {
  const u32 i = INDEX();
  if (i < n) out[i] = in[index[i]] + in[index[i] + 1ULL];
}

extern "C" __global__ void picked_bytes(const u8* in, const int* index, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i < n) out[i] = *(const u32*)(in + index[i]);
}

// More tests of the lanes' alignment than are made without calls: 32-bit and 64-bit distances.
extern "C" __global__ void many_picked(const u8* in, const int* index, const u64* far, u32* out) {
  const u32 i = INDEX();
  u32 sum = 0;
#pragma unroll
  for (u32 k = 0; k < 24; ++k) sum = sum * 3 + *(const u32*)(in + index[k * 64 + i]);
#pragma unroll
  for (u32 k = 0; k < 24; ++k) sum = sum * 3 + *(const u32*)(in + far[k * 64 + i]);
  out[i] = sum;
}

extern "C" __global__ void spread(u32* out, const int* index, const u32* in, u32 n) {
  const u32 i = INDEX();
  if (i < n) out[index[i]] = in[i];
}

// A pointer of each thread's own that moves on in a loop.
extern "C" __global__ void walked(const u32* in, const int* index, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 sum = 0;
  const u32* at = in + index[i];
#pragma unroll 1
  for (u32 k = 0; k < 2 + i % 5; ++k, at += 3) sum = sum * 3 + *at;
  out[i] = sum;
}

// Elements side by side, of several words each, read and written as they lie.
template <class T>
__device__ T turned(T v) {
  T result = v;
  result.x = v.y;
  result.y = v.x;
  return result;
}
extern "C" __global__ void turned_words(const uint4* in4, const uint2* in2, const double2* wide,
                                        uint4* out4, uint2* out2, double2* out_wide, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const uint4 v = turned(in4[i]);
  out4[i] = make_uint4(v.w, v.y, v.z, v.x);
  out2[i] = turned(in2[i]);
  out_wide[i] = turned(wide[i]);
}

// Lanes side by side, some of which are missing: `lanes` says which of 32.
template <class T>
__device__ void copy_some(const T* in, T* out, u32 lanes) {
  const u32 i = INDEX();
  if (lanes >> (threadIdx.x % 32) & 1) out[i] = in[i];
}
extern "C" __global__ void copy_some_u8(const u8* in, u8* out, u32 lanes) {
  copy_some(in, out, lanes);
}
extern "C" __global__ void copy_some_u16(const unsigned short* in, unsigned short* out, u32 lanes) {
  copy_some(in, out, lanes);
}
extern "C" __global__ void copy_some_u32(const u32* in, u32* out, u32 lanes) {
  copy_some(in, out, lanes);
}
extern "C" __global__ void copy_some_u64(const u64* in, u64* out, u32 lanes) {
  copy_some(in, out, lanes);
}

// From an aligned variable on, lanes lie half an element apart.
extern "C" __global__ void read_halfway(unsigned* out) {
  __shared__ __align__(16) unsigned char bytes[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) bytes[i] = (unsigned char)i;
  __syncthreads();
  out[threadIdx.x] = *(const unsigned*)(bytes + 2 * threadIdx.x);
}

// A parameter need not be aligned where others make up for it.
extern "C" __global__ void copy_shifted(const char* in, long long shift, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = reinterpret_cast<const float*>(in + shift)[i];
}

// ---- Rows of bytes and halves at addresses of each thread's own.

template <class Row>
__device__ void move_row(const u32* index, const Row* in, Row* out, u32 i) {
  out[index[i]] = in[index[i] ^ 1];
}

extern "C" __global__ void byte_rows(const u32* index, const uchar4* in4, uchar4* out4,
                                     const ushort2* in2, ushort2* out2, const ushort4* in8,
                                     ushort4* out8, u32 n) {
  const u32 i = INDEX();
  if (i >= n || i % 5 == 3) return;
  move_row(index, in4, out4, i);
  move_row(index, in2, out2, i);
  move_row(index, in8, out8, i);
}

/// Words that may lie anywhere, so that the compiler reads their bytes.
extern "C" __global__ void bytes_of_words(const u32* index, const u8* in, u64* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n || i % 7 == 2) return;
  const u8* at = in + index[i];
  u64 word = 0, next = 0;
  for (int k = 0; k < 8; ++k) word |= u64(at[k]) << (8 * k);
  for (int k = 0; k < 8; ++k) next |= u64(at[8 + k]) << (8 * k);
  out[2 * i] = word;
  out[2 * i + 1] = next;
}

// ---- Lanes that take no part lie below the block's shared memory.

template <class T>
__device__ void move_down(u32 distance, T* out) {
  extern __shared__ __align__(16) unsigned char window[];
  T* const tile = reinterpret_cast<T*>(window);
  const u32 t = threadIdx.x;
  tile[t] = T(3 * t + 1);
  __syncthreads();
  T read = T(t);
  if (t >= distance) read = tile[t - distance];
  __syncthreads();
  if (t >= distance) tile[t - distance] = T(read + 5);
  __syncthreads();
  out[2 * t] = read;
  out[2 * t + 1] = tile[t];
}

extern "C" __global__ void below_window(u32 distance, u8* bytes, u16* halves, float* words,
                                        double* longs) {
  move_down(distance, bytes);
  __syncthreads();
  move_down(distance, halves);
  __syncthreads();
  move_down(distance, words);
  __syncthreads();
  move_down(distance, longs);
}

// ---- Elements of two by indices that are halved.

extern "C" __global__ void halved(const float2* in, float2* out, int width) {
  const int first = blockIdx.x * width;
  for (int y = threadIdx.x * 2; y < width; y += blockDim.x * 2) {
    const float2 pair = in[(first + y) >> 1];
    out[(first + y) >> 1] = make_float2(pair.y, pair.x + 1);
  }
}

extern "C" __global__ void divided(const float4* in, float4* out, const int* start, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    const int place = *start + 4 * (threadIdx.x + r * blockDim.x);
    float4 row = in[place / 4];
    row.x += static_cast<float>(place / 2 % 4);
    out[place / 4] = row;
  }
}

/// The sum wraps in some lanes of a warp, and is shifted with or without its sign.
extern "C" __global__ void halved_wraps(int first, int rounds, int* out) {
  for (int r = 0; r < rounds; ++r) {
    const int i = first + 64 * r + 2 * static_cast<int>(threadIdx.x);
    const unsigned u = static_cast<unsigned>(i);
    int* const at = out + 4 * (r * blockDim.x + threadIdx.x);
    at[0] = i >> 1;
    at[1] = static_cast<int>(u >> 1);
    at[2] = out[((i >> 1) & 3) + 4 * rounds * blockDim.x];
    at[3] = static_cast<int>(static_cast<long long>(u >> 1) >> 3);
  }
}

/// The border of an image is repeated.
extern "C" __global__ void clamped(const float* in, float* out, int width, int reach) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  float sum = 0;
  for (int k = -reach; k <= reach; ++k) {
    sum += in[min(max(x + k, 0), width - 1)];
  }
  out[x] = sum + in[min(static_cast<unsigned>(x + reach), width - 1u)] +
           static_cast<float>(max(x - reach, 3));
}

/// The index wraps in some lanes, which are then clamped.
extern "C" __global__ void clamped_wraps(const int* first, int bound, int* out) {
  const int i = *first + static_cast<int>(threadIdx.x);
  const int low = min(i, bound), high = max(i, bound);
  out[4 * threadIdx.x] = low;
  out[4 * threadIdx.x + 1] = high;
  out[4 * threadIdx.x + 2] = out[4 * blockDim.x + (min(max(i, 0), 3) ^ 1)];
  out[4 * threadIdx.x + 3] =
      static_cast<int>((static_cast<long long>(high) - low) >> 7) ^ max(i >> 31, bound);
}

/// Each sum may wrap in some lanes, so the differences of equal distances are not equal.
extern "C" __global__ void difference_of_wrapped(const unsigned* first, long long* out) {
  const long long a = static_cast<int>(threadIdx.x + first[0]);
  const long long b = static_cast<int>(threadIdx.x + first[1]);
  out[threadIdx.x] = a - b < 0 ? 2 * (a - b) : a - b + 1;
}
