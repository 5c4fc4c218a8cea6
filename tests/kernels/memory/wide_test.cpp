#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

const vector<std::string> kOptions = {"--gpu-architecture=compute_90", "-std=c++17"};

Module& kernels() { return session().cuda("memory/wide.cu", kOptions); }

/// Of integers below 2048 and 256, which the formats hold exactly.
uint16_t f16_of(uint32_t value) {
  if (value == 0) return 0;
  const auto top = static_cast<uint32_t>(std::bit_width(value) - 1);
  return static_cast<uint16_t>((top + 15) << 10 | ((value << (10 - top)) & 0x3FF));
}
uint16_t bf16_of(uint32_t value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}

TEST(Wide, HalfSums) {
  const uint32_t n = 100;
  vector<uint16_t> f16, bf16;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t value = i % 7 == 3 ? 4 : i % 2;
    f16.push_back(f16_of(value));
    bf16.push_back(bf16_of(value));
    sum += value;
  }
  Buffer<uint16_t> half(session(), f16), brain(session(), bf16);
  Buffer<uint16_t> cells(session(), vector<uint16_t>(8, 0));
  kernels().run("half_sums", cover(n, 64), half, brain, cells, n);
  const uint16_t h = f16_of(sum), b = bf16_of(sum);
  expect_bits("half_sums", cells.read(), vector<uint16_t>{h, b, h, b, h, h, b, b});
}

TEST(Wide, HalfTickets) {
  const uint32_t n = 90;
  Buffer<uint16_t> out(session(), n + 1);
  kernels().run("half_tickets", Shape{{1}, {n}}, out);
  auto got = out.read();
  std::sort(got.begin(), got.end());
  vector<uint16_t> want;
  for (uint32_t i = 0; i <= n; ++i) want.push_back(f16_of(i));
  expect_bits("half_tickets", got, want);
}

TEST(Wide, Vectors) {
  const uint32_t n = 70;
  vector<float> sums(4 + 4 * n, 0.5f);
  Buffer<float> sum(session(), sums);
  vector<uint16_t> halves(8, 0x3800);
  Buffer<uint16_t> half(session(), halves);
  Buffer<uint32_t> packed(session(), vector<uint32_t>(2, 0x7F807F80u)), old(session(), n);
  kernels().run("vectors", cover(n, 32), sum, half, packed, old, n);
  vector<uint32_t> want_old(n, std::bit_cast<uint32_t>(7.5f));
  for (uint32_t i = 0; i < n; ++i) {
    const auto x = static_cast<float>(i);
    sums[2 * (i % 2)] += x;
    sums[2 * (i % 2) + 1] -= x;
    for (uint32_t k = 0; k < 4; ++k) sums[4 + 4 * i + k] += x + static_cast<float>(k);
  }
  std::fill(halves.begin(), halves.end() - 1, static_cast<uint16_t>(0x3C00 + n - 1));
  expect_bits("sums", sum.read(), sums);
  expect_bits("maxima", half.read(), halves);
  expect_bits("minima", packed.read(), vector<uint32_t>{0x3C003C00u, 0x3C003F80u});
  expect_bits("old", old.read(), want_old);
}

TEST(Wide, SubnormalSums) {
  Buffer<float> cells(session(), vector<float>(2, 0.0f));
  Buffer<uint32_t> out(session(), 4);
  kernels().run("subnormal_sums", Shape{{1}, {32}}, cells, out);
  expect_bits("subnormal_sums", out.read(), vector<uint32_t>{0x11, 0x11, 0, 0});
}

TEST(Wide, Swaps) {
  const uint32_t n = 200;
  Buffer<uint64_t> cells(session(), vector<uint64_t>(8, 0)), seen(session(), 2 * n);
  kernels().run("wide_swaps", cover(n, 64), cells, seen, n);
  const auto got = cells.read();
  auto all = seen.read();
  all.insert(all.end(), got.begin(), got.begin() + 2);
  vector<uint64_t> lows;
  for (uint32_t i = 0; i <= n; ++i) {
    lows.push_back(all[2 * i]);
    EXPECT_EQ(all[2 * i + 1], all[2 * i] == 0 ? 0 : ~all[2 * i]);
  }
  std::sort(lows.begin(), lows.end());
  vector<uint64_t> want;
  for (uint64_t i = 0; i <= n; ++i) want.push_back(i);
  expect_bits("every value once", lows, want);
  vector<uint64_t> sums(6, 0);
  for (uint32_t i = 0; i < n; ++i) {
    sums[2 * (i % 3)] += i;
    sums[2 * (i % 3) + 1] += 1;
  }
  expect_bits("sums", vector<uint64_t>(got.begin() + 2, got.end()), sums);
}

TEST(Wide, Copies) {
  const uint32_t n = 150;
  const auto values = random_u64(2 * n, 5);
  Buffer<uint64_t> in(session(), values), out(session(), 2 * n);
  kernels().run("wide_copies", cover(n, 64), in, out, n);
  vector<uint64_t> want(2 * n);
  for (uint32_t i = 0; i < n; ++i) {
    want[2 * (i * 7 % n)] = values[2 * i];
    want[2 * (i * 7 % n) + 1] = values[2 * i + 1];
  }
  expect_bits("wide_copies", out.read(), want);
}

TEST(Wide, Untorn) {
  Buffer<uint64_t> cell(session(), vector<uint64_t>{0, ~uint64_t{0}});
  Buffer<uint32_t> torn(session(), vector<uint32_t>{0});
  kernels().run("untorn", Shape{{64}, {64}}, cell, torn, 50u);
  expect_bits("untorn", torn.read(), vector<uint32_t>{0});
  const auto last = cell.read();
  EXPECT_EQ(last[0], ~last[1]);
}

TEST(Wide, Parameters) {
  struct Head {
    uint32_t values[5] = {1, 2, 3, 4, 5};
  } head;
  struct Tail {
    uint32_t values[8] = {10, 20, 30, 40, 50, 60, 70, 80};
  } tail;
  const uint32_t n = 60;
  const auto values = random_u32(n, 8);
  Buffer<uint32_t> in(session(), values), out(session(), 3 * n);
  kernels().run("parameters", Shape{{1}, {n}}, head, tail, in, out);
  vector<uint32_t> want;
  for (uint32_t t = 0; t < n; ++t) {
    want.push_back(head.values[t % 5] * 1000 + tail.values[(t + 3) % 8]);
    want.push_back(values[t] & 1 ? tail.values[t % 8] : values[t]);
    want.push_back(tail.values[t % 4]);
  }
  expect_bits("parameters", out.read(), want);
}

TEST(Wide, Heap) {
  const uint32_t n = 130;
  auto lengths = random_u32(n, 6);
  for (uint32_t& length : lengths) length %= 50;
  Buffer<uint32_t> length(session(), lengths), out(session(), n);
  Buffer<uint64_t> places(session(), n);
  kernels().run("lists", cover(n, 64), length, places, out, n);
  vector<uint32_t> sums, last;
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < lengths[i]; ++k) sum += i * k;
    sums.push_back(sum);
    last.push_back(lengths[i] == 0 ? 0 : i * (lengths[i] - 1));
  }
  expect_bits("lists", out.read(), sums);
  kernels().run("free_lists", cover(n, 32), length, places, out, n);
  expect_bits("free_lists", out.read(), last);
}

TEST(Wide, HeapLimits) {
  KM_NEEDS_FAULTS();
  Session own;
  auto& module = own.cuda("memory/wide.cu", kOptions);
  Buffer<uint32_t> out(own, 4);
  module.run("too_much", Shape{{1}, {1}}, out);
  expect_bits("too_much", out.read(), vector<uint32_t>(4, 1));
  EXPECT_EQ(module.try_run("free_wildly", Shape{{1}, {1}}, out), KM_ERROR_ILLEGAL_ADDRESS);
}

}  // namespace
}  // namespace km::kernels
