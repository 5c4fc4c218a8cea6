// sin(x) + exp(x): what the mathematical functions cost.
#pragma once

#include <cmath>

#include "common/pages.h"

namespace km::bench {

class SincosExp : public Benchmark {
 public:
  static constexpr uint32_t kBlock = 256;

  explicit SincosExp(uint64_t count)
      : count_(static_cast<int>(count)), x_(count, RandomFloats(9, -4.0f, 4.0f)), y_(count) {}

  /// Elements per microsecond.
  double value(double seconds) const override { return count_ / seconds * 1e-6; }

  std::string check() override {
    for (int i = 0; i < count_; i += 13) {
      const double expected = std::sin(double{x_[i]}) + std::exp(double{x_[i]});
      if (!(std::fabs(y_[i] - expected) <= 2e-6 * (1 + std::exp(double{x_[i]})))) {
        return "element " + std::to_string(i);
      }
    }
    return {};
  }

 protected:
  const int count_;
  const Pages<float> x_;
  Pages<float> y_;
};

}  // namespace km::bench
