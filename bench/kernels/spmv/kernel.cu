// y = A x by compressed rows.

// One thread per row.
extern "C" __global__ void spmv_scalar(const int* starts, const int* columns, const float* values,
                                       const float* x, float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}

// 16 threads per row; `rows` is a multiple of 16.
extern "C" __global__ void spmv_vector(const int* starts, const int* columns, const float* values,
                                       const float* x, float* y, int rows) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = thread / 16, lane = thread % 16;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = starts[row] + lane; i < starts[row + 1]; i += 16) sum += values[i] * x[columns[i]];
  for (int distance = 8; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(~0u, sum, distance, 16);
  }
  if (lane == 0) y[row] = sum;
}
