// C = A B for n x n matrices, n a multiple of 16: tiles of 16 x 16 in shared memory.
extern "C" __global__ void sgemm(const float* a, const float* b, float* c, int n) {
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
