#include "harness/inputs.h"

#include <bit>

namespace km::kernels {
namespace {

template <class T, class Make>
std::vector<T> fill(std::vector<T> start, uint64_t count, const Make& make) {
  if (start.size() > count) start.resize(count);
  while (start.size() < count) start.push_back(make());
  return start;
}

}  // namespace

uint64_t Random::bits64() {
  state_ += 0x9E3779B97F4A7C15u;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

float Random::uniform(float low, float high) {
  return static_cast<float>(uniform64(static_cast<double>(low), static_cast<double>(high)));
}

double Random::uniform64(double low, double high) {
  return low + (high - low) * (static_cast<double>(bits64() >> 11) * 0x1p-53);
}

std::vector<uint32_t> corners_u32() {
  return {0u,          1u,          2u,          3u,          7u,          8u,
          15u,         16u,         31u,         32u,         33u,         63u,
          64u,         127u,        128u,        255u,        256u,        0x7FFFu,
          0x8000u,     0xFFFFu,     0x10000u,    0x55555555u, 0x7FFFFFFEu, 0x7FFFFFFFu,
          0x80000000u, 0x80000001u, 0xAAAAAAAAu, 0xFFFFFFFEu, 0xFFFFFFFFu, 1000003u};
}

std::vector<uint64_t> corners_u64() {
  return {0u,
          1u,
          2u,
          31u,
          32u,
          63u,
          64u,
          65u,
          0xFFFFFFFFu,
          0x100000000u,
          0x100000001u,
          0x5555555555555555u,
          0x7FFFFFFF00000000u,
          0x7FFFFFFFFFFFFFFFu,
          0x8000000000000000u,
          0x8000000000000001u,
          0xAAAAAAAAAAAAAAAAu,
          0xFFFFFFFF00000000u,
          0xFFFFFFFFFFFFFFFEu,
          0xFFFFFFFFFFFFFFFFu};
}

std::vector<float> corners_f32() {
  constexpr uint32_t kPatterns[] = {
      0x00000000,                                                  // 0
      0x00000001,                                                  // smallest subnormal
      0x00400000, 0x007FFFFF,                                      // subnormals
      0x00800000, 0x00800001,                                      // smallest normals
      0x01000000, 0x33800000,                                      // 2^-24
      0x3EFFFFFF, 0x3F000000,                                      // about 0.5
      0x3F000001, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FC00000,  // about 1, 1.5
      0x40000000, 0x40200000, 0x40400000, 0x4B000000, 0x4B7FFFFF,  // 2, 2.5, 3, 2^23, 2^24 - 1
      0x4EFFFFFF, 0x4F000000, 0x4F7FFFFF, 0x4F800000,              // about 2^31 and 2^32
      0x5EFFFFFF, 0x5F000000, 0x5F7FFFFF, 0x5F800000,              // about 2^63 and 2^64
      0x7F000000, 0x7F7FFFFF, 0x7F800000,                          // large, largest, infinity
      0x7FC00000, 0x7FFFFFFF, 0x7F800001, 0x7FA12345};             // quiet, signalling NaNs
  std::vector<float> values;
  for (const uint32_t pattern : kPatterns) {
    values.push_back(std::bit_cast<float>(pattern));
    values.push_back(std::bit_cast<float>(pattern | 0x80000000u));
  }
  return values;
}

std::vector<double> corners_f64() {
  constexpr uint64_t kPatterns[] = {
      0x0000000000000000, 0x0000000000000001, 0x0008000000000000, 0x000FFFFFFFFFFFFF,
      0x0010000000000000, 0x0010000000000001, 0x3690000000000000,  // 2^-150
      0x36A0000000000000, 0x380FFFFFFFFFFFFF, 0x3810000000000000,  // about f32 limits
      0x3CA0000000000000, 0x3FDFFFFFFFFFFFFF, 0x3FE0000000000000, 0x3FE0000000000001,
      0x3FF0000000000000, 0x3FF0000000000001, 0x3FF8000000000000, 0x4004000000000000,
      0x41DFFFFFFFC00000, 0x41E0000000000000, 0x41EFFFFFFFE00000, 0x41F0000000000000,
      0x4330000000000000, 0x43DFFFFFFFFFFFFF, 0x43E0000000000000, 0x43EFFFFFFFFFFFFF,
      0x43F0000000000000, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000, 0x47F0000000000000,
      0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001,
      0x7FFFFFFFFFFFFFFF};
  std::vector<double> values;
  for (const uint64_t pattern : kPatterns) {
    values.push_back(std::bit_cast<double>(pattern));
    values.push_back(std::bit_cast<double>(pattern | 0x8000000000000000u));
  }
  return values;
}

std::vector<uint32_t> random_u32(uint64_t count, uint64_t seed) {
  Random random(seed);
  return fill<uint32_t>({}, count, [&] { return random.bits32(); });
}

std::vector<uint64_t> random_u64(uint64_t count, uint64_t seed) {
  Random random(seed);
  return fill<uint64_t>({}, count, [&] { return random.bits64(); });
}

std::vector<float> random_bits_f32(uint64_t count, uint64_t seed) {
  Random random(seed);
  return fill<float>({}, count, [&] { return std::bit_cast<float>(random.bits32()); });
}

std::vector<double> random_bits_f64(uint64_t count, uint64_t seed) {
  Random random(seed);
  return fill<double>({}, count, [&] { return std::bit_cast<double>(random.bits64()); });
}

std::vector<float> random_f32(uint64_t count, uint64_t seed, float low, float high) {
  Random random(seed);
  return fill<float>({}, count, [&] { return random.uniform(low, high); });
}

std::vector<double> random_f64(uint64_t count, uint64_t seed, double low, double high) {
  Random random(seed);
  return fill<double>({}, count, [&] { return random.uniform64(low, high); });
}

std::vector<uint32_t> mixed_u32(uint64_t count, uint64_t seed) {
  Random random(seed);
  return fill(corners_u32(), count, [&] { return random.bits32() >> (random.bits32() & 31); });
}

std::vector<uint64_t> mixed_u64(uint64_t count, uint64_t seed) {
  Random random(seed);
  return fill(corners_u64(), count, [&] { return random.bits64() >> (random.bits32() & 63); });
}

std::vector<float> mixed_f32(uint64_t count, uint64_t seed) {
  Random random(seed);
  return fill(corners_f32(), count, [&] { return std::bit_cast<float>(random.bits32()); });
}

std::vector<double> mixed_f64(uint64_t count, uint64_t seed) {
  Random random(seed);
  return fill(corners_f64(), count, [&] { return std::bit_cast<double>(random.bits64()); });
}

}  // namespace km::kernels
