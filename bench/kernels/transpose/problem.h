// The transpose of a square matrix by tiles of 32 x 32.
#pragma once

#include "common/pages.h"

namespace km::bench {

class Transpose : public Benchmark {
 public:
  static constexpr uint32_t kTile = 32, kRows = 8;

  explicit Transpose(uint64_t edge)
      : edge_(static_cast<int>(edge)),
        from_(edge * edge, [](uint64_t i) { return static_cast<float>(i % 999983); }),
        to_(edge * edge) {}

  /// 8 bytes per element: one read, one written.
  double value(double seconds) const override { return 8.0 * edge_ * edge_ / seconds * 1e-9; }

  std::string check() override {
    for (int y = 0; y < edge_; ++y) {
      for (int x = 0; x < edge_; ++x) {
        if (to_[x * edge_ + y] != from_[y * edge_ + x]) return "row " + std::to_string(x);
      }
    }
    return {};
  }

 protected:
  const int edge_;
  const Pages<float> from_;
  Pages<float> to_;
};

}  // namespace km::bench
