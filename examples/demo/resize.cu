// Bicubic resize (Catmull-Rom). Threads whose 4 x 4 neighbourhood lies inside the image read it
// directly; those at the border clamp each coordinate, so warps at the border diverge.

__device__ int clamp(int value, int high) { return max(0, min(value, high)); }

__device__ void cubic_weights(float t, float* w) {
  w[0] = fmaf(fmaf(-0.5f, t, 1.0f), t, -0.5f) * t;
  w[1] = fmaf(fmaf(1.5f, t, -2.5f) * t, t, 1.0f);
  w[2] = fmaf(fmaf(-1.5f, t, 2.0f), t, 0.5f) * t;
  w[3] = fmaf(0.5f, t, -0.5f) * t * t;
}

__device__ float row_sum(const unsigned char* row, int step, const float* w) {
  float sum = 0.0f;
  for (int k = 0; k < 4; ++k) sum = fmaf(w[k], static_cast<float>(row[k * step]), sum);
  return sum;
}

__device__ float clamped_row_sum(const unsigned char* row, int first, int width, int step,
                                 const float* w) {
  float sum = 0.0f;
  for (int k = 0; k < 4; ++k) {
    sum = fmaf(w[k], static_cast<float>(row[clamp(first + k, width - 1) * step]), sum);
  }
  return sum;
}

// One thread per pixel of the output; scales are input size / output size.
extern "C" __global__ void resize(const unsigned char* in, int in_width, int in_height,
                                  unsigned char* out, int out_width, int out_height, int channels,
                                  float scale_x, float scale_y) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= out_width || y >= out_height) return;
  const float source_x = fmaf(static_cast<float>(x) + 0.5f, scale_x, -0.5f);
  const float source_y = fmaf(static_cast<float>(y) + 0.5f, scale_y, -0.5f);
  const int left = static_cast<int>(floorf(source_x)) - 1;
  const int top = static_cast<int>(floorf(source_y)) - 1;
  float wx[4];
  float wy[4];
  cubic_weights(source_x - floorf(source_x), wx);
  cubic_weights(source_y - floorf(source_y), wy);
  const bool is_inside = left >= 0 && top >= 0 && left + 4 <= in_width && top + 4 <= in_height;
  for (int channel = 0; channel < channels; ++channel) {
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
      float row;
      if (is_inside) {
        row = row_sum(in + ((top + k) * in_width + left) * channels + channel, channels, wx);
      } else {
        const unsigned char* start = in + clamp(top + k, in_height - 1) * in_width * channels;
        row = clamped_row_sum(start + channel, left, in_width, channels, wx);
      }
      sum = fmaf(wy[k], row, sum);
    }
    const float rounded = fminf(fmaxf(sum + 0.5f, 0.0f), 255.0f);
    out[(y * out_width + x) * channels + channel] = static_cast<unsigned char>(rounded);
  }
}
