// y = a x + y: memory bandwidth, or that of a cache.
#pragma once

#include "common/pages.h"

namespace km::bench {

class Saxpy : public Benchmark {
 public:
  static constexpr float kFactor = 0.5f;

  explicit Saxpy(uint64_t count)
      : count_(static_cast<int>(count)), x_(count, x_at), y_(count, y_at) {}

  /// 12 bytes per element: x and y read, y written.
  double value(double seconds) const override { return 12.0 * count_ / seconds * 1e-9; }

  /// All values are small multiples of 1/8, so a fused and an unfused product agree.
  std::string check() override {
    for (int i = 0; i < count_; ++i) {
      if (y_[i] != kFactor * x_at(i) + y_at(i)) return "element " + std::to_string(i);
    }
    return {};
  }

 protected:
  static float x_at(uint64_t i) { return static_cast<float>(i % 1024) * 0.25f; }
  static float y_at(uint64_t i) { return static_cast<float>(i % 999) - 100.0f; }

  const int count_;
  Pages<float> x_, y_;
};

}  // namespace km::bench
