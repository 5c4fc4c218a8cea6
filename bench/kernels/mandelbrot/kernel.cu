extern "C" __global__ void mandelbrot(int* iterations, int width, int height, int limit) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x;
  const int py = blockIdx.y * blockDim.y + threadIdx.y;
  const float cx = -2.0f + px * (3.0f / width), cy = -1.5f + py * (3.0f / height);
  float x = 0.0f, y = 0.0f;
  int k = 0;
  while (k < limit && x * x + y * y <= 4.0f) {
    const float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    ++k;
  }
  iterations[py * width + px] = k;
}
