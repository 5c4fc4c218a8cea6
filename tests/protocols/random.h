// Random choices that are the same on every machine.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace km::protocols {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}

  /// A number below `count`.
  unsigned below(unsigned count) { return static_cast<unsigned>(next() % count); }
  /// A number from `low` to `high`.
  unsigned between(unsigned low, unsigned high) { return low + below(high - low + 1); }
  bool one_in(unsigned count) { return below(count) == 0; }
  template <typename T>
  const T& pick(const std::vector<T>& list) {
    return list[below(static_cast<unsigned>(list.size()))];
  }

 private:
  /// splitmix64.
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

}  // namespace km::protocols
