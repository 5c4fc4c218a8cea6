// The transpose of an n x n matrix, n a multiple of 32: blocks of 32 x 8 threads, tiles of 32 x 32
// in shared memory whose rows are one longer so that columns hit different banks.
extern "C" __global__ void transpose(const float* from, float* to, int n) {
  __shared__ float tile[32][33];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (int k = ty; k < 32; k += 8) tile[k][tx] = from[(y + k) * n + x + tx];
  __syncthreads();
  for (int k = ty; k < 32; k += 8) to[(x + k) * n + y + tx] = tile[tx][k];
}
