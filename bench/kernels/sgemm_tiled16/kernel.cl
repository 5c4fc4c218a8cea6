// C = A B for n x n matrices, n a multiple of 16: tiles of 16 x 16 in local memory.
#pragma OPENCL FP_CONTRACT ON
__kernel void sgemm(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float as[16][16], bs[16][16];
  const int tx = get_local_id(0), ty = get_local_id(1);
  const int row = get_group_id(1) * 16 + ty, column = get_group_id(0) * 16 + tx;
  float sum = 0.0f;
  for (int start = 0; start < n; start += 16) {
    as[ty][tx] = a[row * n + start + tx];
    bs[ty][tx] = b[(start + ty) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; ++k) sum += as[ty][k] * bs[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
