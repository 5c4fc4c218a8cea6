// One step of a 7-point stencil over a cube of n x n x n points; the border stays as it is.
#pragma OPENCL FP_CONTRACT ON
__kernel void stencil7(__global const float* from, __global float* to, int n, float centre,
                       float neighbour) {
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) return;
  const int i = (z * n + y) * n + x;
  to[i] = centre * from[i] + neighbour * (from[i - 1] + from[i + 1] + from[i - n] + from[i + n] +
                                          from[i - n * n] + from[i + n * n]);
}
