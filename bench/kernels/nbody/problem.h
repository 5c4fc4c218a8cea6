// Accelerations of 8192 bodies by all pairs: multiply-adds, exact square roots and divisions.
#pragma once

#include <cmath>

#include "common/benchmark.h"

namespace km::bench {

class Nbody : public Benchmark {
 public:
  static constexpr int kCount = 8192;
  static constexpr int kBlock = 256;

  /// Interactions per nanosecond.
  double value(double seconds) const override {
    return static_cast<double>(kCount) * kCount / seconds * 1e-9;
  }

 protected:
  /// x, y, z and mass of each body.
  const std::vector<float> bodies_ = random_floats(4 * kCount, 7, -1.0f, 1.0f);

  /// `at(i, c)` is component c of body i's acceleration; some bodies are compared with double sums.
  template <class At>
  std::string check_accelerations(const At& at) const {
    for (int i = 0; i < kCount; i += 331) {
      double sum[3] = {}, size = 0;
      for (int k = 0; k < kCount; ++k) {
        double d[3];
        for (int c = 0; c < 3; ++c) d[c] = double{bodies_[4 * k + c]} - double{bodies_[4 * i + c]};
        const double d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1e-3;
        const double scale = double{bodies_[4 * k + 3]} / (d2 * std::sqrt(d2));
        for (int c = 0; c < 3; ++c) sum[c] += d[c] * scale;
        size += std::fabs(scale);
      }
      for (int c = 0; c < 3; ++c) {
        if (std::fabs(at(i, c) - sum[c]) > 1e-5 * size) return "body " + std::to_string(i);
      }
    }
    return {};
  }
};

}  // namespace km::bench
