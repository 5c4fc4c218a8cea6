// One step of a 7-point stencil over a cube of n x n x n points; the border stays as it is.
extern "C" __global__ void stencil7(const float* from, float* to, int n, float centre,
                                    float neighbour) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z;
  if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) return;
  const int i = (z * n + y) * n + x;
  to[i] = centre * from[i] + neighbour * (from[i - 1] + from[i + 1] + from[i - n] + from[i + n] +
                                          from[i - n * n] + from[i + n * n]);
}
