// Local memory: arrays at indices that are known when the kernel runs.
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

constexpr uint32_t kThreads = 1000;  // in blocks whose last one is not full

uint32_t next(uint32_t x) { return x * 1664525u + 1013904223u; }

/// Runs a kernel of local.cu and compares with a function of a thread's input and the last
/// argument.
template <typename Want>
void check(const std::string& kernel, uint32_t m, const Want& want_of) {
  const vector<uint32_t> values = random_u32(kThreads, 41);
  Buffer<uint32_t> in(session(), values);
  Buffer<uint64_t> out(session(), kThreads);
  session().cuda("memory/local.cu").run(kernel.c_str(), cover(kThreads, 96), in, out, kThreads, m);
  vector<uint64_t> want;
  for (const uint32_t value : values) want.push_back(want_of(value));
  expect_bits(kernel.c_str(), out.read(), want);
}

template <typename T>
void check_recurrence(const std::string& kernel, uint32_t m) {
  check(kernel, m, [&](uint32_t value) {
    T a[24];
    for (uint32_t k = 0; k < m; ++k) a[k] = static_cast<T>(value * (k + 3));
    for (uint32_t k = 1; k < m; ++k) a[k] = static_cast<T>(a[k] * 5 + a[k - 1]);
    uint32_t x = value;
    for (uint32_t k = 0; k < 9; ++k, x = next(x)) {
      a[x % m] = static_cast<T>(a[(x >> 8) % m] + x);
      if ((x & 1) != 0) a[k % m] = static_cast<T>(a[k % m] ^ x);
    }
    uint64_t sum = 0;
    for (uint32_t k = 0; k < m; ++k) sum = sum * 31 + a[k];
    return sum;
  });
}

TEST(Local, ElementsOfEachSize) {
  check_recurrence<uint8_t>("bytes", 24);
  check_recurrence<uint16_t>("halves", 23);
  check_recurrence<uint32_t>("words", 7);
  check_recurrence<uint32_t>("words", 24);
  check_recurrence<uint64_t>("longs", 17);
}

TEST(Local, RowsOfFourElements) {
  check("rows", 21, [](uint32_t value) {
    uint32_t a[8][4];
    for (uint32_t k = 0; k < 8; ++k) {
      const uint32_t row[4] = {value + k, value ^ k, k, value * k};
      std::memcpy(a[k], row, sizeof row);
    }
    uint32_t x = value;
    for (uint32_t k = 0; k < 21; ++k, x = next(x)) {
      const uint32_t *const v = a[k & 7], *const w = a[x & 7];
      const uint32_t row[4] = {v[3] + w[0], v[0] ^ w[1], v[1] + w[2], v[2] * w[3]};
      std::memcpy(a[(x >> 4) & 7], row, sizeof row);
    }
    uint64_t sum = 0;
    for (const uint32_t* row : a) {
      sum = ((sum * 31 + row[0]) * 31 + row[1]) * 31 + (row[2] ^ row[3]);
    }
    return sum;
  });
}

TEST(Local, BytesOfWords) {
  check("two_sizes", 29, [](uint32_t value) {
    uint32_t a[8];
    for (uint32_t k = 0; k < 8; ++k) a[k] = value * (k + 1);
    auto* const bytes = reinterpret_cast<uint8_t*>(a);
    for (uint32_t k = 0; k < 29; ++k) bytes[(k * 7 + value) & 31] += static_cast<uint8_t>(k);
    uint64_t sum = 0;
    for (uint32_t k = 0; k < 8; ++k) sum = sum * 31 + a[(k + 29) & 7];
    return sum;
  });
}

TEST(Local, TwoArraysOverBarriers) {
  const uint32_t m = 13, block = 96;
  const vector<uint32_t> values = random_u32(kThreads, 42);
  Buffer<uint32_t> in(session(), values);
  Buffer<uint64_t> out(session(), kThreads);
  session().cuda("memory/local.cu").run("two_arrays", cover(kThreads, block), in, out, kThreads, m);
  vector<uint64_t> want;
  for (uint32_t first = 0; first < kThreads; first += block) {
    vector<vector<uint32_t>> arrays[2];
    vector<uint32_t> mine(block);
    for (uint32_t t = 0; t < block; ++t) {
      if (first + t < kThreads) mine[t] = values[first + t];
      arrays[0].emplace_back(16);
      arrays[1].emplace_back(16);
      for (uint32_t k = 0; k < 16; ++k) {
        arrays[0][t][k] = mine[t] * k;
        arrays[1][t][k] = mine[t] ^ k;
      }
    }
    for (uint32_t k = 0; k < m; ++k) {
      const auto chosen = [&](uint32_t t) -> vector<uint32_t>& {
        return arrays[(mine[t] >> (k & 31) & 1) != 0 ? 0 : 1][t];
      };
      vector<uint32_t> passed;
      for (uint32_t t = 0; t < block; ++t) passed.push_back(chosen(t)[k & 15]);
      for (uint32_t t = 0; t < block; ++t) chosen(t)[(k + 1) & 15] += passed[(t + 1) % block];
    }
    for (uint32_t t = 0; t < block && first + t < kThreads; ++t) {
      uint64_t sum = 0;
      for (uint32_t k = 0; k < 16; ++k) {
        sum = (sum * 31 + arrays[0][t][(k + m) & 15]) * 31 + arrays[1][t][k];
      }
      want.push_back(sum);
    }
  }
  expect_bits("two_arrays", out.read(), want);
}

}  // namespace
}  // namespace km::kernels
