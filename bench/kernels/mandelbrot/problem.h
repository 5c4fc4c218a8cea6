// The Mandelbrot set, a square of pixels, at most 512 iterations: a divergent loop.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "common/pages.h"

namespace km::bench {

class Mandelbrot : public Benchmark {
 public:
  static constexpr int kLimit = 512;
  static constexpr uint32_t kBlockX = 32, kBlockY = 8;

  explicit Mandelbrot(uint64_t edge)
      : edge_(static_cast<int>(edge)), iterations_(edge * edge, [](uint64_t) { return 0; }) {}

  /// Iterations per nanosecond; known after check().
  double value(double seconds) const override { return total_ / seconds * 1e-9; }

  /// The share of lanes that do useful work when 32 neighbours in a row run until the last is done.
  Figures facts() override { return {{"lane_efficiency", total_ / lane_work_}}; }

  /// Contraction moves a few points near the border: those may differ, nothing else.
  std::string check() override {
    const int pixels = edge_ * edge_;
    int different = 0;
    for (int i = 0; i < pixels; i += 32) {
      int longest = 0;
      for (int k = i; k < i + 32; ++k) {
        different += iterations_[k] != iterate(k % edge_, k / edge_);
        total_ += iterations_[k];
        longest = std::max(longest, iterations_[k]);
      }
      lane_work_ += 32.0 * longest;
    }
    return different > pixels / 100 ? std::to_string(different) + " pixels differ" : "";
  }

 protected:
  /// A point's recurrence as plain code.
  int iterate(int px, int py) const {
    const float step = 3.0f / static_cast<float>(edge_);
    const float cx = -2.0f + static_cast<float>(px) * step;
    const float cy = -1.5f + static_cast<float>(py) * step;
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

  const int edge_;
  Pages<int> iterations_;

 private:
  double total_ = 0;
  double lane_work_ = 0;
};

}  // namespace km::bench
