// y = A x by compressed rows.
#pragma OPENCL FP_CONTRACT ON

// One work-item per row.
__kernel void spmv_scalar(__global const int* starts, __global const int* columns,
                          __global const float* values, __global const float* x, __global float* y,
                          int rows) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}

// 16 work-items per row; `rows` is a multiple of 16.
__kernel void spmv_vector(__global const int* starts, __global const int* columns,
                          __global const float* values, __global const float* x, __global float* y,
                          int rows) {
  __local float sums[256];
  const int t = get_local_id(0), row = get_global_id(0) / 16, lane = t % 16;
  float sum = 0.0f;
  for (int i = starts[row] + lane; i < starts[row + 1]; i += 16) sum += values[i] * x[columns[i]];
  sums[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 8; distance > 0; distance /= 2) {
    if (lane < distance) sums[t] += sums[t + distance];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) y[row] = sums[t];
}
