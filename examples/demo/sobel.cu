// Sobel edges of a colour image: the length of the brightness gradient, weak edges dropped.
constexpr int kTileX = 32;
constexpr int kTileY = 8;

__device__ int clamp(int value, int high) { return max(0, min(value, high)); }

__device__ int brightness(const unsigned char* pixel) {
  return (77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2]) >> 8;
}

// Block (32, 8); in is RGB, out is grey.
extern "C" __global__ void sobel(const unsigned char* in, unsigned char* out, int width, int height,
                                 float threshold) {
  __shared__ int tile[kTileY + 2][kTileX + 2];
  const int left = blockIdx.x * kTileX - 1;
  const int top = blockIdx.y * kTileY - 1;
  for (int y = threadIdx.y; y < kTileY + 2; y += kTileY) {
    const int row = clamp(top + y, height - 1) * width;
    for (int x = threadIdx.x; x < kTileX + 2; x += kTileX) {
      tile[y][x] = brightness(in + 3 * (row + clamp(left + x, width - 1)));
    }
  }
  __syncthreads();
  const int x = blockIdx.x * kTileX + threadIdx.x;
  const int y = blockIdx.y * kTileY + threadIdx.y;
  if (x >= width || y >= height) return;
  const int* above = &tile[threadIdx.y][threadIdx.x];
  const int* here = &tile[threadIdx.y + 1][threadIdx.x];
  const int* below = &tile[threadIdx.y + 2][threadIdx.x];
  const int dx = above[2] + 2 * here[2] + below[2] - above[0] - 2 * here[0] - below[0];
  const int dy = below[0] + 2 * below[1] + below[2] - above[0] - 2 * above[1] - above[2];
  const float length = sqrtf(static_cast<float>(dx * dx + dy * dy));
  unsigned char edge = 0;
  if (length >= threshold) edge = static_cast<unsigned char>(fminf(length, 255.0f));
  out[y * width + x] = edge;
}
