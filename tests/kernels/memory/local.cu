// Local memory whose elements lie side by side, lane after lane, and kernels where they cannot.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// Recurrences over an array: one index for all threads, one of each thread, stores that only some
// threads make, and a walk by a pointer.
template <typename T>
__device__ void recur(const u32* in, u64* out, u32 n, u32 m) {
  const u32 i = INDEX();
  if (i >= n) return;
  T a[24];
  for (u32 k = 0; k < m; ++k) a[k] = (T)(in[i] * (k + 3));
  for (u32 k = 1; k < m; ++k) a[k] = (T)(a[k] * 5 + a[k - 1]);
  u32 x = in[i];
  for (u32 k = 0; k < 9; ++k) {
    a[x % m] = (T)(a[(x >> 8) % m] + x);
    if (x & 1) a[k % m] = (T)(a[k % m] ^ x);
    x = x * 1664525u + 1013904223u;
  }
  u64 sum = 0;
  for (const T* p = a; p != a + m; ++p) sum = sum * 31 + *p;
  out[i] = sum;
}

extern "C" __global__ void bytes(const u32* in, u64* out, u32 n, u32 m) {
  recur<u8>(in, out, n, m);
}
extern "C" __global__ void halves(const u32* in, u64* out, u32 n, u32 m) {
  recur<u16>(in, out, n, m);
}
extern "C" __global__ void words(const u32* in, u64* out, u32 n, u32 m) {
  recur<u32>(in, out, n, m);
}
extern "C" __global__ void longs(const u32* in, u64* out, u32 n, u32 m) {
  recur<u64>(in, out, n, m);
}

// Vectors of four: their elements lie apart.
extern "C" __global__ void rows(const u32* in, u64* out, u32 n, u32 m) {
  const u32 i = INDEX();
  if (i >= n) return;
  uint4 a[8];
  for (u32 k = 0; k < 8; ++k) a[k] = make_uint4(in[i] + k, in[i] ^ k, k, in[i] * k);
  u32 x = in[i];
  for (u32 k = 0; k < m; ++k) {
    const uint4 v = a[k & 7], w = a[x & 7];
    a[(x >> 4) & 7] = make_uint4(v.w + w.x, v.x ^ w.y, v.y + w.z, v.z * w.w);
    x = x * 1664525u + 1013904223u;
  }
  u64 sum = 0;
  for (u32 k = 0; k < 8; ++k) sum = ((sum * 31 + a[k].x) * 31 + a[k].y) * 31 + (a[k].z ^ a[k].w);
  out[i] = sum;
}

// Two arrays by one pointer, and values that live over barriers.
extern "C" __global__ void two_arrays(const u32* in, u64* out, u32 n, u32 m) {
  __shared__ u32 passed[256];
  const u32 i = INDEX();
  const u32 mine = i < n ? in[i] : 0;
  u32 a[16], b[16];
  for (u32 k = 0; k < 16; ++k) {
    a[k] = mine * k;
    b[k] = mine ^ k;
  }
  for (u32 k = 0; k < m; ++k) {
    u32* const chosen = (mine >> (k & 31)) & 1 ? a : b;
    passed[threadIdx.x] = chosen[k & 15];
    __syncthreads();
    chosen[(k + 1) & 15] += passed[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
  }
  u64 sum = 0;
  for (u32 k = 0; k < 16; ++k) sum = (sum * 31 + a[(k + m) & 15]) * 31 + b[k];
  if (i < n) out[i] = sum;
}

// Bytes of words: elements of two sizes.
extern "C" __global__ void two_sizes(const u32* in, u64* out, u32 n, u32 m) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 a[8];
  for (u32 k = 0; k < 8; ++k) a[k] = in[i] * (k + 1);
  u8* const bytes = (u8*)a;
  for (u32 k = 0; k < m; ++k) bytes[(k * 7 + in[i]) & 31] += (u8)k;
  u64 sum = 0;
  for (u32 k = 0; k < 8; ++k) sum = sum * 31 + a[(k + m) & 7];
  out[i] = sum;
}
