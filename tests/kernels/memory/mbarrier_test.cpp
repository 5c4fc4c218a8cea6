#include <numeric>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() {
  return session().cuda("memory/mbarrier.cu", {"--gpu-architecture=compute_90", "-std=c++17"});
}

TEST(Mbarrier, Phases) {
  const uint32_t threads = 50, results = 16;
  Buffer<uint32_t> out(session(), threads * results);
  kernels().run("phases", Shape{{1}, {threads}}, out, results);
  vector<uint32_t> want;
  for (uint32_t t = 0; t < threads; ++t) {
    const uint32_t count = 3 + t % 3;
    want.insert(want.end(), {count, 0b100, count - 1, 0b0111});
    want.insert(want.end(), {count, count - 1, 1, 0b11});
    want.insert(want.end(), {count - 1, 0, 0, 1});
    want.insert(want.end(), {0, 0b11 | 1 << 2});
    want.insert(want.end(), {0b01, count - 2});
  }
  expect_bits("phases", out.read(), want);
}

TEST(Mbarrier, InvalidatedEarly) {
  const uint32_t threads = 256;
  Buffer<uint32_t> out(session(), vector<uint32_t>(threads));
  kernels().run("invalidated_early", Shape{{1}, {threads}}, out);
  EXPECT_EQ(out.read(), vector<uint32_t>(threads, 1));
}

TEST(Mbarrier, Ring) {
  const uint32_t blocks = 3, threads = 128, consumers = threads - 32, rounds = 9;
  const auto values = random_u32(32 * rounds, 1);
  Buffer<uint32_t> in(session(), values), out(session(), blocks * consumers);
  kernels().run("ring", Shape{{blocks}, {threads}}, in, out, rounds);
  vector<uint32_t> want(blocks * consumers);
  for (uint32_t i = 0; i < want.size(); ++i) {
    for (uint32_t r = 0; r < rounds; ++r) {
      want[i] = want[i] * 5 + values[32 * r + (i % 32 + r) % 32] + r;
    }
  }
  expect_bits("ring", out.read(), want);
}

TEST(Mbarrier, Meet) {
  const uint32_t threads = 150, rounds = 8;
  Buffer<uint32_t> out(session(), threads);
  kernels().run("meet", Shape{{1}, {threads}}, out, rounds);
  vector<uint32_t> want(threads);
  std::iota(want.begin(), want.end(), 0u);
  for (uint32_t r = 0; r < rounds; ++r) {
    for (uint32_t t = 0; t < threads; ++t) {
      for (uint32_t k = 0; t % 3 == r % 3 && k < t % 7; ++k) want[t] = want[t] * 3 + 1;
    }
    const auto old = want;
    for (uint32_t t = 0; t < threads; ++t) want[t] ^= old[(t + 37 * r + 1) % threads];
  }
  expect_bits("meet", out.read(), want);
}

TEST(Mbarrier, CopiesArrive) {
  const uint32_t threads = 96;
  const auto values = random_u32(2 * threads, 2);
  Buffer<uint32_t> in(session(), values), out(session(), threads);
  kernels().run("copies_arrive", Shape{{1}, {threads}}, in, out);
  vector<uint32_t> want;
  for (uint32_t t = 0; t < threads; ++t) {
    want.push_back(values[(t + 50) % threads] * 7 + values[96 + (t + 51) % threads]);
  }
  expect_bits("copies_arrive", out.read(), want);
}

TEST(Mbarrier, RemoteStores) {
  Buffer<uint32_t> out(session(), 5 * 32);
  kernels().run("remote_stores", Shape{{1}, {32}}, out);
  vector<uint32_t> want;
  for (uint32_t t = 0; t < 32; ++t) {
    const uint32_t s = (t + 9) % 32;
    want.insert(want.end(), {s, s * s, ~s, 7, 5 + 31 * 32 / 2});
  }
  expect_bits("remote_stores", out.read(), want);
}

TEST(Mbarrier, ClusterRegisters) {
  const uint32_t blocks = 3, threads = 40;
  Buffer<uint32_t> out(session(), blocks * threads * 12);
  kernels().run("cluster_registers", Shape{{blocks}, {threads}}, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < blocks * threads; ++i) {
    want.insert(want.end(), {0, 1, 0, 1, i / threads, blocks, 0, 1, 0, 0, 1, 99});
  }
  expect_bits("cluster_registers", out.read(), want);
}

TEST(Mbarrier, ClusterBarrier) {
  const uint32_t threads = 96, rounds = 7;
  Buffer<uint32_t> out(session(), vector<uint32_t>(threads, 0u));
  kernels().run("cluster_barrier", Shape{{1}, {threads}}, out, rounds);
  vector<uint32_t> want(threads);
  std::iota(want.begin(), want.end(), 1u);
  for (uint32_t r = 0; r < rounds; ++r) {
    const auto old = want;
    for (uint32_t t = 0; t < 95; ++t) {
      want[t] = (t / 32 == r % 3 ? 3 * old[t] : old[t]) + old[(t + 31) % 95];
    }
  }
  want[95] = 0;
  expect_bits("cluster_barrier", out.read(), want);
}

TEST(Mbarrier, AlignedClusterBarrier) {
  Buffer<uint32_t> out(session(), 128);
  kernels().run("cluster_barrier_aligned", Shape{{1}, {128}}, out);
  vector<uint32_t> want;
  for (uint32_t t = 0; t < 128; ++t) want.push_back(((t + 77) % 128) * ((t + 77) % 128));
  expect_bits("cluster_barrier_aligned", out.read(), want);
}

}  // namespace
}  // namespace km::kernels
