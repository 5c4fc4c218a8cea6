// One step of a 7-point stencil over a cube: each point and its six neighbours.
#pragma once

#include <cmath>

#include "common/pages.h"

namespace km::bench {

class Stencil7 : public Benchmark {
 public:
  static constexpr uint32_t kBlockX = 32, kBlockY = 8;
  static constexpr float kCentre = 0.4f, kNeighbour = 0.1f;

  explicit Stencil7(uint64_t edge)
      : edge_(static_cast<int>(edge)),
        from_(edge * edge * edge, [](uint64_t i) { return static_cast<float>(i * 37 % 1009); }),
        to_(edge * edge * edge, [](uint64_t) { return 0.0f; }) {}

  /// 8 bytes per point: one read, one written.
  double value(double seconds) const override {
    return 8.0 * edge_ * edge_ * edge_ / seconds * 1e-9;
  }

  /// Points at the border stay as they are.
  std::string check() override {
    const int row = edge_, plane = edge_ * edge_;
    for (int i = 0; i < plane * edge_; i += 7) {
      const int x = i % edge_, y = i / row % edge_, z = i / plane;
      const bool inside =
          x > 0 && y > 0 && z > 0 && x < edge_ - 1 && y < edge_ - 1 && z < edge_ - 1;
      const double expected = inside ? point(i, row, plane) : 0.0;
      if (!(std::fabs(to_[i] - expected) <= 1e-3)) return "point " + std::to_string(i);
    }
    return {};
  }

 protected:
  const int edge_;
  const Pages<float> from_;
  Pages<float> to_;

 private:
  double point(int i, int row, int plane) const {
    return double{kCentre} * from_[i] +
           double{kNeighbour} * (double{from_[i - 1]} + from_[i + 1] + from_[i - row] +
                                 from_[i + row] + from_[i - plane] + from_[i + plane]);
  }
};

}  // namespace km::bench
