// Sums that threads may keep for themselves for a while: what the kernel, the host and other blocks
// see of them.
#include <numeric>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() { return session().cuda("programs/sums.cu"); }

constexpr uint32_t kCount = 60000;

/// Few threads with many elements each, and many with one.
const Shape kShapes[] = {{{4}, {128}}, {{3}, {200}}, cover(kCount, 256)};

TEST(Sums, Bins32) {
  const auto values = random_u32(kCount, 1);
  Buffer<uint32_t> in(session(), values);
  for (const Shape& shape : kShapes) {
    for (const uint32_t bin_count : {1u, 7u, 256u, 5001u, 40000u}) {
      vector<uint32_t> want(bin_count, 9);
      Buffer<uint32_t> bins(session(), want);
      kernels().run("count_u32", shape, in, bins, bin_count, kCount);
      for (const uint32_t x : values) want[x % bin_count] += x >> 20;
      expect_bits("count_u32", bins.read(), want);
    }
  }
}

TEST(Sums, Bins64) {
  const auto values = random_u32(kCount, 2);
  Buffer<uint32_t> in(session(), values);
  for (const Shape& shape : kShapes) {
    for (const uint32_t bin_count : {1u, 100u, 9000u}) {
      vector<uint64_t> want(bin_count, ~0ull);
      Buffer<uint64_t> bins(session(), want);
      kernels().run("count_u64", shape, in, bins, bin_count, kCount);
      for (const uint32_t x : values) want[x % bin_count] += uint64_t{x} << 7;
      expect_bits("count_u64", bins.read(), want);
    }
  }
}

TEST(Sums, VariableOfModule) {
  const auto values = random_u32(kCount, 3);
  Buffer<uint32_t> in(session(), values);
  vector<uint32_t> want(96), got(96);
  kernels().read_global("of_module", want.data(), 96 * 4);
  kernels().run("count_in_module", kShapes[0], in, kCount);
  for (const uint32_t x : values) want[x % 96] -= 3;
  kernels().read_global("of_module", got.data(), 96 * 4);
  expect_bits("count_in_module", got, want);
}

TEST(Sums, OffsetsOfEitherSign) {
  const auto values = random_u32(kCount, 4);
  Buffer<uint32_t> in(session(), values);
  for (const int reach : {3, 500, 20000}) {
    vector<uint32_t> want(2 * reach, 1);
    Buffer<uint32_t> bins(session(), want);
    const uint64_t middle = bins.address() + 4 * static_cast<uint64_t>(reach);
    kernels().run("count_around", kShapes[1], in, middle, reach, kCount);
    for (const uint32_t x : values) want[x % (2 * reach)] += x >> 28 != 3;
    expect_bits("count_around", bins.read(), want);
  }
}

TEST(Sums, OnePlaceAndSideBySide) {
  const auto values = random_u32(kCount, 5);
  Buffer<uint32_t> in(session(), values);
  for (const Shape& shape : kShapes) {
    Buffer<uint32_t> total(session(), vector<uint32_t>{17});
    vector<uint32_t> want(shape.block.x, 0);
    Buffer<uint32_t> by_thread(session(), want);
    kernels().run("sum_all", shape, in, total, by_thread, kCount);
    for (uint32_t i = 0; i < kCount; ++i) {
      const uint32_t stride = shape.grid.x * shape.block.x;
      want[i % stride % shape.block.x] += values[i];
    }
    expect_bits("sum_all by thread", by_thread.read(), want);
    EXPECT_EQ(total.read()[0], std::accumulate(values.begin(), values.end(), 17u));
  }
}

TEST(Sums, SeenByTheirOwnBlock) {
  const uint32_t blocks = 5, threads = 96, rounds = 64, n = blocks * threads;
  const auto values = random_u32(n, 6);
  Buffer<uint32_t> in(session(), values), bins(session(), vector<uint32_t>(n, 0));
  Buffer<uint32_t> seen(session(), vector<uint32_t>(n, 0));
  kernels().run("add_and_read", {{blocks}, {threads}}, in, bins, seen, rounds);
  vector<uint32_t> sums(n, 0), want(n, 0);
  for (uint32_t round = 0; round < rounds; ++round) {
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t x = values[i] + round * 97;
      sums[i / threads * threads + x % threads] += x & 0xFFFF;
    }
    for (uint32_t i = 0; i < n && round % 16 == 15; ++i) want[i] += sums[i];
  }
  expect_bits("add_and_read", seen.read(), want);
  expect_bits("add_and_read sums", bins.read(), sums);
}

TEST(Sums, StoresAfterThem) {
  const uint32_t n = 640, rounds = 50;
  Buffer<uint32_t> cells(session(), vector<uint32_t>(n, 2));
  kernels().run("add_and_store", {{n / 128}, {128}}, cells, rounds);
  vector<uint32_t> want(n);
  for (uint32_t i = 0; i < n; ++i) {
    want[i] = (i % 64 < 32 ? i : 2 + rounds * (rounds - 1) / 2) + 5;
  }
  expect_bits("add_and_store", cells.read(), want);
}

TEST(Sums, OfBothWidths) {
  const uint32_t n = 256, rounds = 40;
  Buffer<uint32_t> cells(session(), vector<uint32_t>(2 * n, 0xF0000000));
  kernels().run("add_both_widths", {{2}, {n / 2}}, cells, rounds);
  uint32_t low = 0xF0000000, high = low;
  for (uint32_t round = 0; round < rounds; ++round) {
    low += 0x40000000u;
    const uint64_t sum = (uint64_t{high} << 32 | low) + 0xC0000001ull;
    low = static_cast<uint32_t>(sum);
    high = static_cast<uint32_t>(sum >> 32);
  }
  vector<uint32_t> want(2 * n);
  for (uint32_t i = 0; i < 2 * n; ++i) want[i] = i % 2 == 0 ? low : high;
  expect_bits("add_both_widths", cells.read(), want);
}

TEST(Sums, ExchangesBetweenThem) {
  const uint32_t n = 512, rounds = 43;
  Buffer<uint32_t> cells(session(), vector<uint32_t>(n, 10)),
      old(session(), vector<uint32_t>(n, 0));
  kernels().run("add_and_exchange", {{4}, {n / 4}}, cells, old, rounds);
  uint32_t cell = 10, taken = 0;
  for (uint32_t round = 0; round < rounds; ++round) {
    cell += 3;
    if (round % 5 != 4) continue;
    taken += cell;
    cell = 1;
  }
  expect_bits("add_and_exchange", cells.read(), vector<uint32_t>(n, cell));
  expect_bits("add_and_exchange old", old.read(), vector<uint32_t>(n, taken));
}

TEST(Sums, SeenBehindAFence) {
  const uint32_t blocks = 500, threads = 128, n = blocks * threads;
  const auto values = random_u32(n, 7);
  vector<uint32_t> want(64, 0);
  for (const uint32_t x : values) {
    for (uint32_t round = 0; round < 32; ++round) ++want[(x + round) % 64];
  }
  Buffer<uint32_t> in(session(), values);
  for (int turn = 0; turn < 20; ++turn) {
    Buffer<uint32_t> bins(session(), vector<uint32_t>(64, 0)), out(session(), 64);
    Buffer<uint32_t> arrived(session(), vector<uint32_t>{0});
    kernels().run("last_block_reads", {{blocks}, {threads}}, in, bins, arrived, out);
    expect_bits("last_block_reads", out.read(), want);
    expect_bits("last_block_reads bins", bins.read(), want);
  }
}

/// An addition that goes wrong while sums are kept, and what is kept afterwards.
TEST(Sums, Fault) {
  KM_NEEDS_FAULTS();
  const uint32_t blocks = 64, threads = 128, rounds = 100, n = blocks * threads;
  const auto values = random_u32(n, 8);
  {
    Session own;
    Buffer<uint32_t> in(own, values), bins(own, vector<uint32_t>(64, 0));
    const uint64_t wrong = uint64_t{1} << 40;
    EXPECT_EQ(own.cuda("programs/sums.cu")
                  .try_run("count_and_fault", {{blocks}, {threads}}, in, bins, wrong, rounds),
              KM_ERROR_ILLEGAL_ADDRESS);
    EXPECT_NE(last_error_message().find("kernel 'count_and_fault', block (0,0,0)"),
              std::string::npos)
        << last_error_message();
  }
  vector<uint32_t> want(64, 0);
  for (const uint32_t x : values) {
    for (uint32_t round = 0; round < rounds; ++round) ++want[(x + round) % 64];
  }
  --want[(values[77] + rounds - 1) % 64];
  ++want[5];
  Buffer<uint32_t> in(session(), values);
  for (int turn = 0; turn < 10; ++turn) {
    Buffer<uint32_t> bins(session(), vector<uint32_t>(64, 0));
    kernels().run("count_and_fault", {{blocks}, {threads}}, in, bins, uint64_t{5}, rounds);
    expect_bits("count_and_fault", bins.read(), want);
  }
}

}  // namespace
}  // namespace km::kernels
