// C = A B for n x n matrices. Blocks of 16 x 16 threads.

// Tiles of 16 x 16 in shared memory, one element per thread; n is a multiple of 16.
extern "C" __global__ void sgemm_tiled16(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int start = 0; start < n; start += 16) {
    as[ty][tx] = a[row * n + start + tx];
    bs[ty][tx] = b[(start + ty) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Tiles of 64 x 64, 16 deep, 4 x 4 elements per thread; n is a multiple of 64.
extern "C" __global__ void sgemm_block64(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][64];  // transposed: as[k][row]
  __shared__ float bs[16][64];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
  float sums[4][4] = {};
  for (int start = 0; start < n; start += 16) {
    const float4 from_a =
        *reinterpret_cast<const float4*>(a + (first_row + t / 4) * n + start + t % 4 * 4);
    as[t % 4 * 4 + 0][t / 4] = from_a.x;
    as[t % 4 * 4 + 1][t / 4] = from_a.y;
    as[t % 4 * 4 + 2][t / 4] = from_a.z;
    as[t % 4 * 4 + 3][t / 4] = from_a.w;
    *reinterpret_cast<float4*>(&bs[t / 16][t % 16 * 4]) =
        *reinterpret_cast<const float4*>(b + (start + t / 16) * n + first_column + t % 16 * 4);
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      const float4 column = *reinterpret_cast<const float4*>(&as[k][ty * 4]);
      const float4 row = *reinterpret_cast<const float4*>(&bs[k][tx * 4]);
      const float factors[4] = {column.x, column.y, column.z, column.w};
      for (int i = 0; i < 4; ++i) {
        sums[i][0] += factors[i] * row.x;
        sums[i][1] += factors[i] * row.y;
        sums[i][2] += factors[i] * row.z;
        sums[i][3] += factors[i] * row.w;
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    float* const out = c + (first_row + ty * 4 + i) * n + first_column + tx * 4;
    *reinterpret_cast<float4*>(out) = make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
  }
}
