#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

constexpr uint32_t kThreads = 192;
constexpr Shape kShape{{2}, {96}};

Module& kernels() { return session().cuda("threads/warp.cu"); }

/// The lane that a shuffle of PTX reads, from the segment's ends.
uint32_t source_up(uint32_t lane, uint32_t delta, uint32_t width) {
  return lane % width >= delta % 32 ? lane - delta % 32 : lane;
}
uint32_t source_down(uint32_t lane, uint32_t delta, uint32_t width) {
  return lane % width + delta % 32 < width ? lane + delta % 32 : lane;
}
uint32_t source_xor(uint32_t lane, uint32_t mask, uint32_t width) {
  const uint32_t source = lane ^ mask % 32, last = lane / width * width + width - 1;
  return source <= last ? source : lane;
}
uint32_t source_index(uint32_t lane, uint32_t index, uint32_t width) {
  return lane / width * width + index % width;
}

/// Expected values: column k of thread i reads the lane that sources[k](lane, i) gives.
vector<uint32_t> shuffled(const vector<uint32_t>& in,
                          const vector<std::function<uint32_t(uint32_t, uint32_t)>>& sources) {
  vector<uint32_t> want;
  for (uint32_t i = 0; i < in.size(); ++i) {
    const uint32_t lane = i % 32;
    for (const auto& source : sources) want.push_back(in[i - lane + source(lane, i)]);
  }
  return want;
}

TEST(Warp, ShuffleUp) {
  const auto values = random_u32(kThreads, 1);
  Buffer<uint32_t> in(session(), values), out(session(), 4 * kThreads);
  for (const uint32_t delta : {0u, 1u, 5u, 15u, 16u, 31u}) {
    kernels().run("shuffle_up", kShape, in, out, delta);
    expect_bits("shuffle_up", out.read(),
                shuffled(values, {[&](auto l, auto) { return source_up(l, delta, 32); },
                                  [&](auto l, auto) { return source_up(l, delta, 16); },
                                  [&](auto l, auto) { return source_up(l, 3, 8); },
                                  [&](auto l, auto) { return source_up(l, 1, 2); }}));
  }
}

TEST(Warp, ShuffleDown) {
  const auto values = random_u32(kThreads, 2);
  Buffer<uint32_t> in(session(), values), out(session(), 4 * kThreads);
  for (const uint32_t delta : {0u, 1u, 9u, 16u, 31u}) {
    kernels().run("shuffle_down", kShape, in, out, delta);
    expect_bits("shuffle_down", out.read(),
                shuffled(values, {[&](auto l, auto) { return source_down(l, delta, 32); },
                                  [&](auto l, auto) { return source_down(l, delta, 16); },
                                  [&](auto l, auto) { return source_down(l, 3, 8); },
                                  [&](auto l, auto) { return source_down(l, 1, 4); }}));
  }
}

TEST(Warp, ShuffleXor) {
  const auto values = random_u32(kThreads, 3);
  Buffer<uint32_t> in(session(), values), out(session(), 4 * kThreads);
  for (const uint32_t mask : {0u, 1u, 6u, 16u, 31u}) {
    kernels().run("shuffle_xor", kShape, in, out, mask);
    expect_bits("shuffle_xor", out.read(),
                shuffled(values, {[&](auto l, auto) { return source_xor(l, mask, 32); },
                                  [&](auto l, auto) { return source_xor(l, 31, 32); },
                                  [&](auto l, auto) { return source_xor(l, 4, 8); },
                                  [&](auto l, auto) { return source_xor(l, 1, 32); }}));
  }
}

TEST(Warp, ShuffleIndex) {
  const auto values = random_u32(kThreads, 4);
  auto from = cast_all<int32_t>(random_u32(kThreads, 5));
  for (int32_t& index : from) index &= 127;  // beyond the width too: taken modulo it
  Buffer<uint32_t> in(session(), values), out(session(), 4 * kThreads);
  Buffer<int32_t> in_from(session(), from);
  for (const int32_t lane : {0, 7, 31, 33}) {
    kernels().run("shuffle_index", kShape, in, in_from, out, lane);
    const auto index = [&](uint32_t i) { return static_cast<uint32_t>(from[i]); };
    const auto uniform = static_cast<uint32_t>(lane);
    expect_bits("shuffle_index", out.read(),
                shuffled(values, {[&](auto l, auto i) { return source_index(l, index(i), 32); },
                                  [&](auto l, auto) { return source_index(l, uniform, 32); },
                                  [&](auto l, auto i) { return source_index(l, index(i), 8); },
                                  [&](auto l, auto) { return source_index(l, 5, 16); }}));
  }
}

TEST(Warp, ShuffleTypes) {
  const auto d = random_bits_f64(kThreads, 6);
  const auto f = random_bits_f32(kThreads, 7);
  const auto l = cast_all<int64_t>(random_u64(kThreads, 8));
  Buffer<double> in_d(session(), d), out_d(session(), kThreads);
  Buffer<float> in_f(session(), f), out_f(session(), kThreads);
  Buffer<int64_t> in_l(session(), l), out_l(session(), kThreads);
  kernels().run("shuffle_types", kShape, in_d, in_f, in_l, out_d, out_f, out_l);
  vector<double> want_d;
  vector<float> want_f;
  vector<int64_t> want_l;
  for (uint32_t i = 0; i < kThreads; ++i) {
    want_d.push_back(d[i ^ 7]);
    want_f.push_back(f[i % 32 < 30 ? i + 2 : i]);
    want_l.push_back(l[i / 32 * 32 + i * 5 % 32]);
  }
  // Shuffles move bits: payloads of NaNs arrive as they were.
  expect_bits("shuffle f64", out_d.read(), want_d);
  expect_bits("shuffle f32", out_f.read(), want_f);
  expect_bits("shuffle s64", out_l.read(), want_l);
}

TEST(Warp, ShuffleInPartialWarp) {
  for (const uint32_t n : {2u, 8u, 30u}) {
    const auto values = random_u32(n, 9);
    Buffer<uint32_t> in(session(), values), out(session(), 2 * n);
    kernels().run("shuffle_partial_warp", Shape{{1}, {n}}, in, out);
    const auto got = out.read();
    for (uint32_t i = 0; i < n; ++i) {
      // What the last lane gets from one that does not exist is undefined.
      if (i + 1 < n) {
        EXPECT_EQ(got[2 * i], values[i + 1]) << i;
      }
      EXPECT_EQ(got[2 * i + 1], values[i ^ 1]) << i;
    }
  }
}

TEST(Warp, Reduce) {
  const uint32_t n = 1000, warps = 32;
  const auto values = random_f32(n, 10, -1.0f, 1.0f);
  Buffer<float> in(session(), values), out(session(), 2 * warps);
  kernels().run("warp_reduce", Shape{{8}, {128}}, in, out, n);
  vector<float> want;
  for (uint32_t w = 0; w < warps; ++w) {
    vector<float> sums(32, 0.0f);
    float most = -1e30f;
    for (uint32_t l = 0; l < 32 && w * 32 + l < n; ++l) {
      sums[l] = values[w * 32 + l];
      most = std::max(most, sums[l]);
    }
    for (uint32_t offset = 16; offset > 0; offset /= 2) {
      for (uint32_t l = 0; l < offset; ++l) sums[l] += sums[l + offset];
    }
    want.insert(want.end(), {sums[0], most});
  }
  expect_bits("warp_reduce", out.read(), want);
}

/// Inclusive sums that restart every `period` elements.
vector<uint32_t> running_sums(const vector<uint32_t>& values, uint32_t period) {
  vector<uint32_t> sums(values);
  for (uint32_t i = 0; i < sums.size(); ++i) {
    if (i % period != 0) sums[i] += sums[i - 1];
  }
  return sums;
}

TEST(Warp, Scan) {
  const auto values = random_u32(kThreads, 11);
  Buffer<uint32_t> in(session(), values), out(session(), kThreads);
  kernels().run("warp_scan", kShape, in, out);
  expect_bits("warp_scan", out.read(), running_sums(values, 32));
}

TEST(Warp, BlockScan) {
  const uint32_t n = 3000, block = 512;
  const auto values = random_u32(n, 12);
  Buffer<uint32_t> in(session(), values), out(session(), n), totals(session(), 6);
  kernels().run("block_scan", cover(n, block), in, out, totals, n);
  const auto want = running_sums(values, block);
  expect_bits("block_scan", out.read(), want);
  expect_bits(
      "block_scan totals", totals.read(),
      vector<uint32_t>{want[511], want[1023], want[1535], want[2047], want[2559], want[2999]});
}

TEST(Warp, Votes) {
  const uint32_t threshold = 50;
  auto values = random_u32(kThreads, 13);
  for (uint32_t& value : values) value = value % 100 + 1;
  values[40] = 0;
  for (uint32_t i = 64; i < 96; ++i) values[i] = 60;
  values[70] = threshold;
  Buffer<uint32_t> in(session(), values), out(session(), 5 * kThreads);
  kernels().run("votes", kShape, in, out, threshold);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < kThreads; ++i) {
    uint32_t ballot = 0, any = 0, all = 1;
    for (uint32_t l = 0; l < 32; ++l) {
      const uint32_t value = values[i / 32 * 32 + l];
      ballot |= (value > threshold ? 1u : 0u) << l;
      any |= value == threshold;
      all &= value != 0;
    }
    const auto rank = std::popcount(ballot & ((1u << i % 32) - 1));
    want.insert(want.end(), {ballot, any, all, static_cast<uint32_t>(rank), 0xFFFFFFFFu});
  }
  expect_bits("votes", out.read(), want);
}

TEST(Warp, Compaction) {
  const uint32_t n = 5003;
  const auto values = random_u32(n, 14);
  vector<uint32_t> want;
  std::copy_if(values.begin(), values.end(), std::back_inserter(want),
               [](uint32_t value) { return value % 3 == 0; });
  Buffer<uint32_t> in(session(), values), out(session(), n);
  Buffer<uint32_t> count(session(), vector<uint32_t>{0});
  kernels().run("compaction", cover(n, 256), in, out, count, n);
  ASSERT_EQ(count.read()[0], want.size());
  auto got = out.read();
  got.resize(want.size());
  std::sort(got.begin(), got.end());  // warps come in any order
  std::sort(want.begin(), want.end());
  expect_bits("compaction", got, want);
}

TEST(Warp, CollectivesByWarp) {
  const uint32_t blocks = 3, block = 256;
  const auto values = random_u32(blocks * block, 15);
  Buffer<uint32_t> in(session(), values), out(session(), blocks * block);
  kernels().run("collectives_by_warp", Shape{{blocks}, {block}}, in, out);
  auto want = values;
  for (uint32_t start = 0; start < want.size(); start += 32) {
    const uint32_t warp = start % block / 32;
    for (uint32_t k = 0; warp % 3 == 1 && k < warp; ++k) {
      const vector<uint32_t> old(want.begin() + start, want.begin() + start + 32);
      for (uint32_t l = 0; l < 32; ++l) want[start + l] ^= old[(l + 1) % 32];
    }
    uint32_t ballot = 0;
    for (uint32_t l = 0; l < 32; ++l) ballot |= (values[start + l] & 1) << l;
    for (uint32_t l = 0; l < 32; ++l) {
      if (warp % 3 == 0) want[start + l] = values[start + l] + values[start + (l ^ 16)];
      if (warp % 3 == 2) want[start + l] = ballot;
    }
  }
  expect_bits("collectives_by_warp", out.read(), want);
}

TEST(Warp, BitonicSort) {
  auto values = random_u32(kThreads, 16);
  Buffer<uint32_t> data(session(), values);
  kernels().run("warp_bitonic_sort", kShape, data);
  for (uint32_t w = 0; w < kThreads; w += 32) {
    std::sort(values.begin() + w, values.begin() + w + 32);
  }
  expect_bits("warp_bitonic_sort", data.read(), values);
}

TEST(Warp, SegmentedScan) {
  const auto values = cast_all<int32_t>(random_u32(kThreads, 17));
  auto flags = random_u32(kThreads, 18);
  for (uint32_t& flag : flags) flag = flag % 6 == 0;
  Buffer<int32_t> in(session(), values), out(session(), kThreads);
  Buffer<uint32_t> in_flags(session(), flags);
  kernels().run("segmented_scan", kShape, in, in_flags, out);
  vector<int32_t> want;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < kThreads; ++i) {
    if (i % 32 == 0 || flags[i] != 0) sum = 0;
    sum += static_cast<uint32_t>(values[i]);
    want.push_back(static_cast<int32_t>(sum));
  }
  expect_bits("segmented_scan", out.read(), want);
}

TEST(Warp, BitTranspose) {
  const auto values = random_u32(kThreads, 19);
  Buffer<uint32_t> in(session(), values), out(session(), kThreads);
  kernels().run("bit_transpose", kShape, in, out);
  vector<uint32_t> want(kThreads, 0);
  for (uint32_t i = 0; i < kThreads; ++i) {
    for (uint32_t bit = 0; bit < 32; ++bit) {
      want[i / 32 * 32 + bit] |= (values[i] >> bit & 1) << i % 32;
    }
  }
  expect_bits("bit_transpose", out.read(), want);
}

TEST(Warp, UntilAllAgree) {
  auto values = random_u32(kThreads, 20);
  for (uint32_t i = 32; i < 64; ++i) values[i] = i % 2;
  Buffer<uint32_t> in(session(), values), out(session(), kThreads), rounds(session(), kThreads);
  kernels().run("until_all_agree", kShape, in, out, rounds);
  vector<uint32_t> want, want_rounds(kThreads, 0);
  for (uint32_t i = 0; i < kThreads; ++i) {
    uint32_t x = values[i], count = 0;
    for (; x > 1; ++count) x = x % 2 == 1 ? x / 3 : x / 2;
    want.push_back(x);
    for (uint32_t l = i / 32 * 32; l < i / 32 * 32 + 32; ++l) {
      want_rounds[l] = std::max(want_rounds[l], count);
    }
  }
  expect_bits("until_all_agree", out.read(), want);
  expect_bits("until_all_agree rounds", rounds.read(), want_rounds);
}

TEST(Warp, MatrixVector) {
  const int rows = 50, columns = 77;
  const auto matrix = random_f32(rows * columns, 21, -1.0f, 1.0f);
  const auto x = random_f32(columns, 22, -1.0f, 1.0f);
  Buffer<float> in(session(), matrix), in_x(session(), x), y(session(), rows);
  kernels().run("matrix_vector", Shape{{13}, {128}}, in, in_x, y, rows, columns);
  vector<float> want;
  for (int row = 0; row < rows; ++row) {
    vector<float> sums(32, 0.0f);
    for (int c = 0; c < columns; ++c) {
      sums[c % 32] = std::fma(matrix[row * columns + c], x[c], sums[c % 32]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      for (int l = 0; l < offset; ++l) sums[l] += sums[l + offset];
    }
    want.push_back(sums[0]);
  }
  expect_bits("matrix_vector", y.read(), want);
}

TEST(Warp, ShuffleNans) {
  const uint32_t n = 32 * 6;
  vector<uint32_t> words = random_u32(n, 23);
  for (uint32_t i = 0; i < n; ++i) {
    words[i] = i % 32 < 20 || i < 64 ? (words[i] & 0x807FFFFF) | 0x3F800000 : words[i];
    if (i >= 64 && i % 4 == 1) words[i] |= 0x7F800001;  // NaNs, some of which are signalling
  }
  const auto bits = [](float x) { return std::isnan(x) ? 0x7FFFFFFF : std::bit_cast<uint32_t>(x); };
  const auto loaded = [&](uint32_t i) { return std::bit_cast<float>(words[i]); };
  const auto made = [&](uint32_t i) { return bits(loaded(i) * 2.0f); };
  const auto sum = [&](uint32_t first) {
    vector<float> sums(32);
    for (uint32_t l = 0; l < 32; ++l) sums[l] = std::bit_cast<float>(made(first + l));
    for (uint32_t distance = 16; distance > 0; distance /= 2) {
      for (uint32_t l = 0; l < distance; ++l) sums[l] += sums[l + distance];
    }
    return bits(sums[0]);
  };
  vector<uint32_t> want(7 * n);
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t other = i ^ 1, warp = i / 32 * 32, last = i % 32 == 0 ? i : i - 1;
    want[i] = words[other];
    want[n + i] = made(other);
    want[2 * n + i] = other % 5 == 0 ? words[other] : made(other);
    want[3 * n + i] = other % 3 == 0 ? bits(loaded(other) + 1.0f) : words[other];
    want[4 * n + i] = made(warp + ((i * 7 % 32) ^ 1));
    want[5 * n + i] = made(last) >> 1;
    want[6 * n + i] = sum(warp);
  }
  Buffer<uint32_t> words_in(session(), words), out(session(), vector<uint32_t>(7 * n));
  kernels().run("shuffle_nans", Shape{{3}, {64}}, words_in, out, n);
  expect_bits("shuffle_nans", out.read(), want);
}

}  // namespace
}  // namespace km::kernels
