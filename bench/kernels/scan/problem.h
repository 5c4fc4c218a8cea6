// Inclusive prefix sums of 32-bit integers.
#pragma once

#include "common/pages.h"

namespace km::bench {

class Scan : public Benchmark {
 public:
  static constexpr uint32_t kBlock = 256, kTile = 4 * kBlock;

  /// `count` is a multiple of kTile.
  explicit Scan(uint64_t count)
      : count_(static_cast<int>(count)),
        values_(count, [](uint64_t i) { return static_cast<uint32_t>(i * 0x9E3779B1u) >> 20; }),
        sums_(count) {}

  /// 8 bytes per element: one read, one written.
  double value(double seconds) const override { return 8.0 * count_ / seconds * 1e-9; }

  std::string check() override {
    uint32_t sum = 0;
    for (int i = 0; i < count_; ++i) {
      sum += values_[i];
      if (sums_[i] != sum) return "element " + std::to_string(i);
    }
    return {};
  }

 protected:
  const int count_;
  const Pages<uint32_t> values_;
  Pages<uint32_t> sums_;
};

}  // namespace km::bench
