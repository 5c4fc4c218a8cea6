// Gaussian blur. Each block loads its tile and a halo into shared memory, blurs the rows of that,
// then the columns: 18 products per pixel instead of 81.
constexpr int kRadius = 4;
constexpr int kTileX = 32;
constexpr int kTileY = 8;
constexpr int kRows = kTileY + 2 * kRadius;
constexpr int kColumns = kTileX + 2 * kRadius;

struct Weights {
  float w[2 * kRadius + 1];
};

__device__ int clamp(int value, int high) { return max(0, min(value, high)); }

// Block (32, 8), one layer of blocks per channel.
extern "C" __global__ void blur(const unsigned char* in, unsigned char* out, int width, int height,
                                int channels, Weights weights) {
  __shared__ float tile[kRows][kColumns];
  __shared__ float blurred_rows[kRows][kTileX];
  const int left = blockIdx.x * kTileX - kRadius;
  const int top = blockIdx.y * kTileY - kRadius;
  const int channel = blockIdx.z;
  for (int y = threadIdx.y; y < kRows; y += kTileY) {
    const int row = clamp(top + y, height - 1) * width;
    for (int x = threadIdx.x; x < kColumns; x += kTileX) {
      tile[y][x] = in[(row + clamp(left + x, width - 1)) * channels + channel];
    }
  }
  __syncthreads();
  for (int y = threadIdx.y; y < kRows; y += kTileY) {
    float sum = 0.0f;
    for (int k = 0; k <= 2 * kRadius; ++k) {
      sum = fmaf(weights.w[k], tile[y][threadIdx.x + k], sum);
    }
    blurred_rows[y][threadIdx.x] = sum;
  }
  __syncthreads();
  const int x = blockIdx.x * kTileX + threadIdx.x;
  const int y = blockIdx.y * kTileY + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.5f;  // rounds
  for (int k = 0; k <= 2 * kRadius; ++k) {
    sum = fmaf(weights.w[k], blurred_rows[threadIdx.y + k][threadIdx.x], sum);
  }
  out[(y * width + x) * channels + channel] = static_cast<unsigned char>(sum);
}
