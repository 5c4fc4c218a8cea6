// The product of two 1024 x 1024 matrices by tiles of 16 x 16: barriers and multiply-adds.
#pragma once

#include <cmath>

#include "common/benchmark.h"

namespace km::bench {

class SgemmTiled16 : public Benchmark {
 public:
  static constexpr int kSize = 1024, kTile = 16;
  static constexpr int kElements = kSize * kSize;

  /// GFLOP/s: two operations per multiply-add.
  double value(double seconds) const override {
    return 2.0 * kSize * kSize * kSize / seconds * 1e-9;
  }

 protected:
  const std::vector<float> a_ = random_floats(kElements, 1, -1.0f, 1.0f);
  const std::vector<float> b_ = random_floats(kElements, 2, -1.0f, 1.0f);

  /// Some elements against sums in double.
  std::string check_product(const float* c) const {
    for (int i = 0; i < kElements; i += 4099) {
      double sum = 0;
      for (int k = 0; k < kSize; ++k) {
        sum += double{a_[i / kSize * kSize + k]} * double{b_[k * kSize + i % kSize]};
      }
      if (!(std::fabs(c[i] - sum) <= 1e-3)) return "element " + std::to_string(i);
    }
    return {};
  }
};

}  // namespace km::bench
