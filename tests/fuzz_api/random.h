// Random choices that are the same on every machine.
#pragma once

#include <cstdint>
#include <span>

namespace km::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) { next(); }

  uint64_t next() {  // splitmix64
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// A number below `count`, which is not 0.
  uint64_t below(uint64_t count) { return next() % count; }
  /// A number from `low` to `high`.
  uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); }
  bool one_in(uint64_t count) { return below(count) == 0; }
  template <typename T>
  const T& pick(std::span<const T> list) {
    return list[below(list.size())];
  }
  template <typename T, size_t count>
  const T& pick(const T (&list)[count]) {
    return list[below(count)];
  }

 private:
  uint64_t state_;
};

}  // namespace km::fuzz
