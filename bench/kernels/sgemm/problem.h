// The product of two square matrices: by tiles of 16 x 16 with one element per thread
// (sgemm_tiled16), or of 64 x 64 with 4 x 4 elements per thread (sgemm_block64).
#pragma once

#include <cmath>

#include "common/pages.h"

namespace km::bench {

class Sgemm : public Benchmark {
 public:
  explicit Sgemm(uint64_t edge)
      : edge_(static_cast<int>(edge)),
        a_(edge * edge, RandomFloats(1, -1.0f, 1.0f)),
        b_(edge * edge, RandomFloats(2, -1.0f, 1.0f)),
        c_(edge * edge) {}

  /// GFLOP/s: two operations per multiply-add.
  double value(double seconds) const override {
    return 2.0 * edge_ * edge_ * edge_ / seconds * 1e-9;
  }

  /// Some elements against sums in double.
  std::string check() override {
    for (int i = 0; i < edge_ * edge_; i += 4099) {
      double sum = 0;
      for (int k = 0; k < edge_; ++k) {
        sum += double{a_[i / edge_ * edge_ + k]} * double{b_[k * edge_ + i % edge_]};
      }
      if (!(std::fabs(c_[i] - sum) <= 1e-3)) return "element " + std::to_string(i);
    }
    return {};
  }

 protected:
  const int edge_;
  const Pages<float> a_, b_;
  Pages<float> c_;
};

}  // namespace km::bench
