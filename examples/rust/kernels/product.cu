// C = A B of whole matrices, 16 x 16 elements of C for each block of 16 x 16 threads.
extern "C" __global__ void product(const float* a, const float* b, float* c, int rows, int depth,
                                   int columns) {
  __shared__ float of_a[16][16], of_b[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < depth; k += 16) {
    of_a[y][x] = row < rows && k + x < depth ? a[row * depth + k + x] : 0;
    of_b[y][x] = k + y < depth && column < columns ? b[(k + y) * columns + column] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += of_a[y][i] * of_b[i][x];
    __syncthreads();
  }
  if (row < rows && column < columns) c[row * columns + column] = sum;
}
