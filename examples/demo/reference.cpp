#include "reference.h"

#include <algorithm>
#include <cmath>
#include <vector>

// std::fma where the kernels say fmaf; the file is compiled with -ffp-contract=off.

namespace {

using Pixel = unsigned char;

int brightness(const Pixel* pixel) { return (77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2]) >> 8; }

/// The four input coordinates around an output coordinate, clamped, and their weights.
struct CubicTaps {
  CubicTaps(int position, float scale, int size) {
    const float source = std::fma(static_cast<float>(position) + 0.5f, scale, -0.5f);
    const float t = source - std::floor(source);
    weights[0] = std::fma(std::fma(-0.5f, t, 1.0f), t, -0.5f) * t;
    weights[1] = std::fma(std::fma(1.5f, t, -2.5f) * t, t, 1.0f);
    weights[2] = std::fma(std::fma(-1.5f, t, 2.0f), t, 0.5f) * t;
    weights[3] = std::fma(0.5f, t, -0.5f) * t * t;
    for (int k = 0; k < 4; ++k) {
      coordinates[k] = std::clamp(static_cast<int>(std::floor(source)) - 1 + k, 0, size - 1);
    }
  }
  int coordinates[4];
  float weights[4];
};

float cubic_sum(const Pixel* in, int width, int channels, const CubicTaps& rows,
                const CubicTaps& columns) {
  float sum = 0.0f;
  for (int j = 0; j < 4; ++j) {
    float row_sum = 0.0f;
    for (int i = 0; i < 4; ++i) {
      const float value = in[(rows.coordinates[j] * width + columns.coordinates[i]) * channels];
      row_sum = std::fma(columns.weights[i], value, row_sum);
    }
    sum = std::fma(rows.weights[j], row_sum, sum);
  }
  return sum;
}

}  // namespace

void reference_blur(const Pixel* in, Pixel* out, int width, int height, int channels,
                    const float* weights) {
  std::vector<float> rows(static_cast<size_t>(width) * height * channels);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        float sum = 0.0f;
        for (int k = -BLUR_RADIUS; k <= BLUR_RADIUS; ++k) {
          const float value = in[(y * width + std::clamp(x + k, 0, width - 1)) * channels + c];
          sum = std::fma(weights[k + BLUR_RADIUS], value, sum);
        }
        rows[(y * width + x) * channels + c] = sum;
      }
    }
  }
  for (int y = 0; y < height; ++y) {
    for (int i = 0; i < width * channels; ++i) {
      float sum = 0.5f;
      for (int k = -BLUR_RADIUS; k <= BLUR_RADIUS; ++k) {
        const float value = rows[std::clamp(y + k, 0, height - 1) * width * channels + i];
        sum = std::fma(weights[k + BLUR_RADIUS], value, sum);
      }
      out[y * width * channels + i] = static_cast<Pixel>(sum);
    }
  }
}

void reference_sobel(const Pixel* in, Pixel* out, int width, int height, float threshold) {
  const auto at = [&](int x, int y) {
    return brightness(in +
                      3 * (std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1)));
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int dx = at(x + 1, y - 1) + 2 * at(x + 1, y) + at(x + 1, y + 1) - at(x - 1, y - 1) -
                     2 * at(x - 1, y) - at(x - 1, y + 1);
      const int dy = at(x - 1, y + 1) + 2 * at(x, y + 1) + at(x + 1, y + 1) - at(x - 1, y - 1) -
                     2 * at(x, y - 1) - at(x + 1, y - 1);
      const float length = std::sqrt(static_cast<float>(dx * dx + dy * dy));
      out[y * width + x] =
          length >= threshold ? static_cast<Pixel>(std::min(length, 255.0f)) : Pixel{0};
    }
  }
}

void reference_equalize(const Pixel* in, Pixel* out, int pixel_count) {
  unsigned bins[256] = {};
  for (int i = 0; i < pixel_count; ++i) ++bins[brightness(in + 3 * i)];
  const unsigned darkest =
      *std::find_if(bins, bins + 255, [](unsigned count) { return count != 0; });
  const unsigned range = std::max(static_cast<unsigned>(pixel_count) - darkest, 1u);
  Pixel table[256];
  unsigned sum = 0;
  for (int i = 0; i < 256; ++i) {
    sum += bins[i];
    const float share =
        static_cast<float>(std::max(sum, darkest) - darkest) / static_cast<float>(range);
    table[i] = static_cast<Pixel>(std::fma(share, 255.0f, 0.5f));
  }
  for (int i = 0; i < pixel_count; ++i) {
    const int old_brightness = brightness(in + 3 * i);
    const float scale =
        static_cast<float>(table[old_brightness]) / static_cast<float>(std::max(old_brightness, 1));
    for (int c = 0; c < 3; ++c) {
      const float value = std::fma(static_cast<float>(in[3 * i + c]), scale, 0.5f);
      out[3 * i + c] = static_cast<Pixel>(std::min(value, 255.0f));
    }
  }
}

void reference_resize(const Pixel* in, int in_width, int in_height, Pixel* out, int out_width,
                      int out_height, int channels) {
  const float scale_x = static_cast<float>(in_width) / static_cast<float>(out_width);
  const float scale_y = static_cast<float>(in_height) / static_cast<float>(out_height);
  for (int y = 0; y < out_height; ++y) {
    const CubicTaps rows(y, scale_y, in_height);
    for (int x = 0; x < out_width; ++x) {
      const CubicTaps columns(x, scale_x, in_width);
      for (int c = 0; c < channels; ++c) {
        const float sum = cubic_sum(in + c, in_width, channels, rows, columns) + 0.5f;
        out[(y * out_width + x) * channels + c] =
            static_cast<Pixel>(std::min(std::max(sum, 0.0f), 255.0f));
      }
    }
  }
}
