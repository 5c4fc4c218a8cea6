// The Mandelbrot set, 1024 x 1024, at most 512 iterations: a divergent loop.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/benchmark.h"

namespace km::bench {

class Mandelbrot : public Benchmark {
 public:
  static constexpr int kWidth = 1024, kHeight = 1024, kLimit = 512;
  static constexpr int kBlockX = 32, kBlockY = 8;
  static constexpr int kPixels = kWidth * kHeight;

  /// Iterations per nanosecond; known after check().
  double value(double seconds) const override { return total_ / seconds * 1e-9; }

  /// The share of lanes that do useful work when 32 neighbours in a row run until the last is done.
  Figures facts() override { return {{"lane_efficiency", lane_efficiency_}}; }

  /// The points' recurrence as plain code; `limit` iterations at most.
  static int iterate(int px, int py) {
    const float cx = -2.0f + static_cast<float>(px) * (3.0f / kWidth);
    const float cy = -1.5f + static_cast<float>(py) * (3.0f / kHeight);
    float x = 0.0f, y = 0.0f;
    int k = 0;
    while (k < kLimit && x * x + y * y <= 4.0f) {
      const float next = x * x - y * y + cx;
      y = 2.0f * x * y + cy;
      x = next;
      ++k;
    }
    return k;
  }

 protected:
  /// Contraction moves a few points near the border: those may differ, nothing else.
  std::string check_iterations(const int* got) {
    int different = 0;
    double work = 0;
    for (int i = 0; i < kPixels; i += 32) {
      int longest = 0;
      for (int k = i; k < i + 32; ++k) {
        different += got[k] != iterate(k % kWidth, k / kWidth);
        total_ += got[k];
        longest = std::max(longest, got[k]);
      }
      work += 32.0 * longest;
    }
    lane_efficiency_ = total_ / work;
    return different > kPixels / 100 ? std::to_string(different) + " pixels differ" : "";
  }

 private:
  double total_ = 0;
  double lane_efficiency_ = 0;
};

}  // namespace km::bench
