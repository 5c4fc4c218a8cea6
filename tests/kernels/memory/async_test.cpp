#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() {
  return session().cuda("memory/async.cu", {"--gpu-architecture=compute_90", "-std=c++17"});
}

TEST(Async, Sizes) {
  const uint32_t blocks = 5, n = blocks * 11 * 64;
  const auto values = random_u32(n, 1);
  Buffer<uint32_t> in(session(), values), out(session(), n);
  kernels().run("copy_sizes", Shape{{blocks}, {64}}, in, out);
  expect_bits("copy_sizes", out.read(), values);
}

/// The source ends where the last lane's size ends: what lies behind is no memory of the kernel's.
TEST(Async, ZeroFill) {
  const uint32_t n = 250, slots = 60;
  vector<uint8_t> bytes(16 * slots + 5);
  Random random(2);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(1 + random.below(255));
  vector<uint32_t> places(n), sizes(n);
  for (uint32_t i = 0; i < n; ++i) {
    places[i] = random.below(slots + 1);
    sizes[i] = places[i] == slots ? random.below(6) : random.below(17);
    if (i % 7 == 0) sizes[i] = i % 2 == 0 && places[i] != slots ? 16 : 0;
  }
  vector<uint8_t> want(28 * n, 0xEE);
  for (uint32_t i = 0; i < n; ++i) {
    if (i % 5 == 4) continue;
    uint8_t* at = want.data() + 28 * i;
    std::fill(at, at + 28, uint8_t{0});
    const uint8_t* from = bytes.data() + 16 * places[i];
    std::copy_n(from, sizes[i], at);
    std::copy_n(from, std::min(sizes[i], 8u), at + 16);
    std::copy_n(from, std::min(sizes[i], 4u), at + 24);
  }
  Buffer<uint8_t> in(session(), bytes), out(session(), 28 * n);
  Buffer<uint32_t> place(session(), places), size(session(), sizes);
  kernels().run("zero_fill", cover(n, 96), in, place, size, out, n);
  expect_bits("zero_fill", out.read(), want);
}

TEST(Async, IgnoredSource) {
  const uint32_t n = 64;
  const auto values = random_u32(4 * n, 3);
  Buffer<uint32_t> in(session(), values), out(session(), 4 * n);
  kernels().run("ignore_source", Shape{{1}, {n}}, in, out);
  auto want = values;
  for (uint32_t i = 0; i < 4 * n; ++i) {
    if (i / 4 % 3 == 1) want[i] = 0;
  }
  expect_bits("ignore_source", out.read(), want);
}

TEST(Async, Pipelined) {
  const uint32_t blocks = 3, tiles = 7;
  const auto values = random_u32(blocks * tiles * 128, 4);
  Buffer<uint32_t> in(session(), values), sums(session(), blocks * 128);
  kernels().run("pipelined_sum", Shape{{blocks}, {128}}, in, sums, tiles);
  vector<uint32_t> want(blocks * 128);
  for (uint32_t i = 0; i < want.size(); ++i) {
    for (uint32_t tile = 0; tile < tiles; ++tile) {
      want[i] = want[i] * 3 + values[(i / 128 * tiles + tile) * 128 + (i % 128 + tile) % 128];
    }
  }
  expect_bits("pipelined_sum", sums.read(), want);
}

/// The destination of cp.async must be aligned to the size.
TEST(Async, Misaligned) {
  KM_NEEDS_FAULTS();
  Session own;
  auto& module = own.cuda("memory/async.cu", {"--gpu-architecture=compute_90", "-std=c++17"});
  Buffer<uint8_t> in(own, 4096), out(own, 4 * 64 * 4);
  EXPECT_EQ(module.try_run("ignore_source", Shape{{1}, {64}}, in.address() + 4, out),
            KM_ERROR_MISALIGNED_ADDRESS);
}

TEST(Async, BulkRoundTrip) {
  const uint32_t blocks = 4, threads = 96, rounds = 5, n = blocks * rounds * 4 * threads;
  const auto values = random_u32(n, 5);
  Buffer<uint32_t> in(session(), values), out(session(), n);
  kernels().run("bulk_round_trip", Shape{{blocks}, {threads}, 16 * threads}, in, out, rounds);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(values[i] * 2 + i / (4 * threads) % rounds);
  expect_bits("bulk_round_trip", out.read(), want);
}

TEST(Async, BulkWithin) {
  const uint32_t n = 32 * 8;
  const auto values = random_u32(n, 6);
  Buffer<uint32_t> in(session(), values), out(session(), n);
  vector<uint32_t> largest(8, 5);
  Buffer<uint32_t> sums(session(), largest);
  kernels().run("bulk_within", Shape{{1}, {32}}, in, out, sums);
  vector<uint32_t> want(n, 7);
  for (uint32_t i = 0; i < n; ++i) {
    if (i % 8 < 4 * (i / 8 % 3)) want[i] = values[i];
    if (i / 8 % 2 == 0) largest[i % 8] = std::max(largest[i % 8], values[i]);
  }
  for (uint32_t i = 0; i < n; ++i) {
    if (i % 8 < 4) want[i % 8] += values[i];
  }
  expect_bits("bulk_within", out.read(), want);
  expect_bits("reduction", sums.read(), largest);
}

}  // namespace
}  // namespace km::kernels
