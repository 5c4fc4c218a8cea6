// y = a x + y over 64M floats: memory bandwidth.
#pragma once

#include <cmath>

#include "common/benchmark.h"

namespace km::bench {

class SaxpyDram : public Benchmark {
 public:
  static constexpr int kCount = 64 << 20;
  static constexpr int kBlock = 256;
  static constexpr float kFactor = 0.5f;

  /// 12 bytes per element: x and y read, y written.
  double value(double seconds) const override { return 12.0 * kCount / seconds * 1e-9; }

 protected:
  /// The same for every contestant, and cheap to make for 64M elements.
  static float x_at(int i) { return static_cast<float>(i % 1024) * 0.25f; }
  static float y_at(int i) { return static_cast<float>(i % 999) - 100.0f; }

  template <class T>
  static void fill(T* x, T* y) {
    for (int i = 0; i < kCount; ++i) {
      x[i] = x_at(i);
      y[i] = y_at(i);
    }
  }

  /// All values are small multiples of 1/8, so a fused and an unfused product agree.
  static std::string check_values(const float* y) {
    for (int i = 0; i < kCount; ++i) {
      if (y[i] != kFactor * x_at(i) + y_at(i)) return "element " + std::to_string(i);
    }
    return {};
  }
};

}  // namespace km::bench
