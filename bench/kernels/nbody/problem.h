// Accelerations of bodies by all pairs: multiply-adds, and square roots and divisions that are
// exact (nbody) or as rsqrt() has them (nbody_rsqrt).
#pragma once

#include <cmath>

#include "common/pages.h"

namespace km::bench {

class Nbody : public Benchmark {
 public:
  static constexpr int kBlock = 256;

  explicit Nbody(uint64_t count)
      : count_(static_cast<int>(count)),
        bodies_(4 * count, RandomFloats(7, -1.0f, 1.0f)),
        accelerations_(4 * count) {}

  /// Interactions per nanosecond.
  double value(double seconds) const override {
    return static_cast<double>(count_) * count_ / seconds * 1e-9;
  }

  /// Some bodies are compared with sums in double.
  std::string check() override {
    for (int i = 0; i < count_; i += 331) {
      double sum[3] = {}, size = 0;
      for (int k = 0; k < count_; ++k) {
        double d[3];
        for (int c = 0; c < 3; ++c) d[c] = double{bodies_[4 * k + c]} - double{bodies_[4 * i + c]};
        const double d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1e-3;
        const double scale = double{bodies_[4 * k + 3]} / (d2 * std::sqrt(d2));
        for (int c = 0; c < 3; ++c) sum[c] += d[c] * scale;
        size += std::fabs(scale);
      }
      for (int c = 0; c < 3; ++c) {
        if (!(std::fabs(accelerations_[4 * i + c] - sum[c]) <= 1e-5 * size)) {
          return "body " + std::to_string(i);
        }
      }
    }
    return {};
  }

 protected:
  const int count_;
  /// x, y, z and mass of each body.
  const Pages<float> bodies_;
  Pages<float> accelerations_;
};

}  // namespace km::bench
