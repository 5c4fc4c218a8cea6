// Copies and fills within device memory, by the interface's own calls.
#pragma once

#include <algorithm>

#include "common/pages.h"

namespace km::bench {

/// `size` bytes. Both count what is read and what is written.
class Memcpy : public Benchmark {
 public:
  explicit Memcpy(uint64_t size)
      : from_(size, [](uint64_t i) { return static_cast<uint8_t>(i * 7 >> 3); }),
        to_(size, [](uint64_t) { return uint8_t{0}; }) {}
  double value(double seconds) const override {
    return 2.0 * static_cast<double>(to_.count()) / seconds * 1e-9;
  }
  std::string check() override {
    return std::equal(to_.data(), to_.data() + to_.count(), from_.data()) ? "" : "not a copy";
  }

 protected:
  const Pages<uint8_t> from_;
  Pages<uint8_t> to_;
};

class Memset : public Benchmark {
 public:
  static constexpr uint8_t kValue = 0x5A;

  explicit Memset(uint64_t size) : to_(size, [](uint64_t) { return uint8_t{0}; }) {}
  double value(double seconds) const override {
    return static_cast<double>(to_.count()) / seconds * 1e-9;
  }
  std::string check() override {
    const auto filled = std::count(to_.data(), to_.data() + to_.count(), kValue);
    return filled == static_cast<int64_t>(to_.count()) ? "" : "not filled";
  }

 protected:
  Pages<uint8_t> to_;
};

}  // namespace km::bench
