// The sum of floats, by a tree in shared memory (reduce_tree) or by shuffles (reduce_shfl).
#pragma once

#include "common/pages.h"

namespace km::bench {

class Reduce : public Benchmark {
 public:
  static constexpr uint32_t kBlock = 256;

  explicit Reduce(uint64_t count) : count_(static_cast<int>(count)), values_(count, value_at) {}

  double value(double seconds) const override { return 4.0 * count_ / seconds * 1e-9; }

  /// Small multiples of 1/2 on both sides of zero: exact in every order.
  std::string check() override {
    double sum = 0;
    for (int i = 0; i < count_; ++i) sum += value_at(i);
    return sum_[0] == sum ? "" : std::to_string(sum_[0]) + " instead of " + std::to_string(sum);
  }

 protected:
  static float value_at(uint64_t i) {
    const uint32_t mixed = static_cast<uint32_t>(i) * 0x9E3779B1u;
    return static_cast<float>(mixed >> 29) - 3.5f;
  }

  const int count_;
  const Pages<float> values_;
  Pages<float> sum_{1, [](uint64_t) { return 0.0f; }};
};

}  // namespace km::bench
