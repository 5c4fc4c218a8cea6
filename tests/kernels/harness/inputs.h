// Inputs of the tests: corner cases first, then pseudo-random ones from fixed seeds.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace km::kernels {

/// splitmix64: small, and good enough to reach every bit pattern.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits64();
  uint32_t bits32() { return static_cast<uint32_t>(bits64() >> 32); }
  /// [0, bound)
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>((bits64() >> 32) * bound >> 32); }
  /// [low, high)
  float uniform(float low, float high);
  double uniform64(double low, double high);

 private:
  uint64_t state_;
};

std::vector<uint32_t> corners_u32();
std::vector<uint64_t> corners_u64();
/// Zeros, ones, subnormals, limits, infinities, quiet and signalling NaNs, halves, of both signs.
std::vector<float> corners_f32();
std::vector<double> corners_f64();

std::vector<uint32_t> random_u32(uint64_t count, uint64_t seed);
std::vector<uint64_t> random_u64(uint64_t count, uint64_t seed);
/// Any bit pattern, so NaNs, infinities and subnormals too.
std::vector<float> random_bits_f32(uint64_t count, uint64_t seed);
std::vector<double> random_bits_f64(uint64_t count, uint64_t seed);
std::vector<float> random_f32(uint64_t count, uint64_t seed, float low, float high);
std::vector<double> random_f64(uint64_t count, uint64_t seed, double low, double high);

/// Corners and then random values, `count` in all.
std::vector<uint32_t> mixed_u32(uint64_t count, uint64_t seed);
std::vector<uint64_t> mixed_u64(uint64_t count, uint64_t seed);
std::vector<float> mixed_f32(uint64_t count, uint64_t seed);
std::vector<double> mixed_f64(uint64_t count, uint64_t seed);

template <class To, class From>
std::vector<To> cast_all(const std::vector<From>& values) {
  return std::vector<To>(values.begin(), values.end());
}

/// Every pair of the two lists, as two lists of equal length.
template <class T, class U>
std::pair<std::vector<T>, std::vector<U>> pairs(const std::vector<T>& first,
                                                const std::vector<U>& second) {
  std::pair<std::vector<T>, std::vector<U>> result;
  for (const T& a : first) {
    for (const U& b : second) {
      result.first.push_back(a);
      result.second.push_back(b);
    }
  }
  return result;
}

/// Corners crossed with themselves, then random pairs.
template <class T>
std::pair<std::vector<T>, std::vector<T>> mixed_pairs(const std::vector<T>& corners,
                                                      const std::vector<T>& random) {
  auto result = pairs(corners, corners);
  for (uint64_t i = 0; i + 1 < random.size(); i += 2) {
    result.first.push_back(random[i]);
    result.second.push_back(random[i + 1]);
  }
  return result;
}

}  // namespace km::kernels
