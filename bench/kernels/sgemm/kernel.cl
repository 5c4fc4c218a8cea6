// C = A B for n x n matrices. Groups of 16 x 16 work-items.
#pragma OPENCL FP_CONTRACT ON

// Tiles of 16 x 16 in local memory, one element per work-item; n is a multiple of 16.
__kernel void sgemm_tiled16(__global const float* a, __global const float* b, __global float* c,
                            int n) {
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

// Tiles of 64 x 64, 16 deep, 4 x 4 elements per work-item; n is a multiple of 64.
__kernel void sgemm_block64(__global const float* a, __global const float* b, __global float* c,
                            int n) {
  __local float as[16][64];  // transposed: as[k][row]
  __local float bs[16][64];
  const int tx = get_local_id(0), ty = get_local_id(1), t = ty * 16 + tx;
  const int first_row = get_group_id(1) * 64, first_column = get_group_id(0) * 64;
  float4 sums[4] = {(float4)(0.0f), (float4)(0.0f), (float4)(0.0f), (float4)(0.0f)};
  for (int start = 0; start < n; start += 16) {
    const float4 from_a = vload4(0, a + (first_row + t / 4) * n + start + t % 4 * 4);
    as[t % 4 * 4 + 0][t / 4] = from_a.x;
    as[t % 4 * 4 + 1][t / 4] = from_a.y;
    as[t % 4 * 4 + 2][t / 4] = from_a.z;
    as[t % 4 * 4 + 3][t / 4] = from_a.w;
    vstore4(vload4(0, b + (start + t / 16) * n + first_column + t % 16 * 4), 0,
            &bs[t / 16][t % 16 * 4]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; ++k) {
      const float4 column = vload4(0, &as[k][ty * 4]);
      const float4 row = vload4(0, &bs[k][tx * 4]);
      sums[0] += column.x * row;
      sums[1] += column.y * row;
      sums[2] += column.z * row;
      sums[3] += column.w * row;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 4; ++i) {
    vstore4(sums[i], 0, c + (first_row + ty * 4 + i) * n + first_column + tx * 4);
  }
}
