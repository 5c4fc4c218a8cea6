// Kernels whose counters are known by arithmetic: 4 blocks of 128 threads, which are 16 warps.
#define KERNEL extern "C" __global__ void

// ---- Global memory: sectors per request.
KERNEL load_stride_1(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
KERNEL load_stride_2(const float* in, float* out) { out[threadIdx.x] = in[2 * threadIdx.x]; }
KERNEL load_stride_32(const float* in, float* out) { out[threadIdx.x] = in[32 * threadIdx.x]; }
KERNEL load_offset_1(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x + 1]; }
KERNEL load_same(const float* in, float* out) { out[threadIdx.x] = in[blockIdx.x]; }
KERNEL load_bytes(const unsigned char* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
KERNEL load_float4(const float4* in, float4* out) { out[threadIdx.x] = in[threadIdx.x]; }
KERNEL load_reversed(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x ^ 31]; }
KERNEL store_stride_8(const float* in, float* out) { out[8 * threadIdx.x] = in[threadIdx.x]; }
KERNEL load_half_warp(const float* in, float* out) {
  if (threadIdx.x % 32 < 16) out[threadIdx.x] = in[threadIdx.x];
}
KERNEL load_one_lane(const float* in, float* out) {
  if (threadIdx.x % 32 == 5) out[threadIdx.x] = in[threadIdx.x];
}
KERNEL atomic_same(const int* in, int* out) { atomicAdd(out, in[threadIdx.x]); }

// ---- Shared memory: bank conflicts.
template <int Stride, typename Element = float>
__device__ void keep(const Element* in, Element* out) {
  __shared__ Element tile[128 * Stride];
  tile[threadIdx.x * Stride] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[(threadIdx.x ^ 32) * Stride];
}
KERNEL shared_stride_1(const float* in, float* out) { keep<1>(in, out); }
KERNEL shared_stride_2(const float* in, float* out) { keep<2>(in, out); }
KERNEL shared_stride_32(const float* in, float* out) { keep<32>(in, out); }
KERNEL shared_stride_33(const float* in, float* out) { keep<33>(in, out); }
KERNEL shared_double(const double* in, double* out) { keep<1>(in, out); }
KERNEL shared_float4(const float4* in, float4* out) { keep<1>(in, out); }
KERNEL shared_same(const float* in, float* out) {
  __shared__ float tile[4];
  if (threadIdx.x < 4) tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x / 32];
}
template <int Width>
__device__ void transpose(const float* in, float* out) {
  __shared__ float tile[32][Width];
  const int x = threadIdx.x % 32, first = threadIdx.x / 32;
  for (int y = first; y < 32; y += 4) tile[y][x] = in[32 * y + x];
  __syncthreads();
  for (int y = first; y < 32; y += 4) out[32 * y + x] = tile[x][y];
}
KERNEL tile_32(const float* in, float* out) { transpose<32>(in, out); }
KERNEL tile_33(const float* in, float* out) { transpose<33>(in, out); }
KERNEL shared_atomic(const int* in, int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[threadIdx.x] + 1);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
KERNEL through_generic(const float* in, float* out) {
  __shared__ float tile[128];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  // One half of each warp reads shared memory, the other one global memory.
  const float* from = threadIdx.x % 32 < 16 ? tile : in;
  out[threadIdx.x] = *(volatile const float*)&from[threadIdx.x];
}
KERNEL async_copy(const float* in, float* out) {
  __shared__ float tile[128];
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x));
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
template <int RowBytes>
__device__ void load_matrix(float* out) {
  __shared__ __align__(16) char rows[32 * RowBytes];
  const auto from =
      static_cast<unsigned>(__cvta_generic_to_shared(&rows[threadIdx.x % 32 * RowBytes]));
  unsigned a, b, c, d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(from)
               : "memory");
  out[threadIdx.x] = a + b + c + d;
}
KERNEL matrix_rows_128(const float* in, float* out) { load_matrix<128>(out); }
KERNEL matrix_rows_144(const float* in, float* out) { load_matrix<144>(out); }
