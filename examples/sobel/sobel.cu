// Sobel edges of a grey image, in integers, so that every language and device gets the same bytes.
// The programs of examples/{c,cpp,rust,go,zig} all run this kernel.
//
// Grey from RGB, on the host: (77 r + 150 g + 29 b + 128) >> 8.
// Blocks of 16 x 16 threads, one pixel each; pixels beyond the border repeat the border.
__device__ int pixel(const unsigned char* in, int width, int height, int x, int y) {
  return in[max(0, min(y, height - 1)) * width + max(0, min(x, width - 1))];
}

extern "C" __global__ void sobel(const unsigned char* in, unsigned char* out, int width,
                                 int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int dx = 0;
  int dy = 0;
  for (int i = -1; i <= 1; ++i) {
    const int weight = i == 0 ? 2 : 1;
    dx +=
        weight * (pixel(in, width, height, x + 1, y + i) - pixel(in, width, height, x - 1, y + i));
    dy +=
        weight * (pixel(in, width, height, x + i, y + 1) - pixel(in, width, height, x + i, y - 1));
  }
  out[y * width + x] = static_cast<unsigned char>(min(abs(dx) + abs(dy), 255));
}
