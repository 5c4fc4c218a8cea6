// The transpose of an n x n matrix, n a multiple of 32: groups of 32 x 8 work-items, tiles of
// 32 x 32 in local memory whose rows are one longer so that columns hit different banks.
__kernel void transpose(__global const float* from, __global float* to, int n) {
  __local float tile[32][33];
  const int tx = get_local_id(0), ty = get_local_id(1);
  const int x = get_group_id(0) * 32, y = get_group_id(1) * 32;
  for (int k = ty; k < 32; k += 8) tile[k][tx] = from[(y + k) * n + x + tx];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = ty; k < 32; k += 8) to[(x + k) * n + y + tx] = tile[tx][k];
}
