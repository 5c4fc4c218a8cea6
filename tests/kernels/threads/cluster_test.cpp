// Clusters of several blocks, and grids whose blocks all wait for each other.
#include <gtest/gtest.h>

#include <vector>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() {
  return session().cuda("threads/cluster.cu", {"--gpu-architecture=compute_90", "-std=c++17"});
}

uint32_t count(const Dim& dim) { return dim.x * dim.y * dim.z; }

/// By cluster and rank: the number of the block.
vector<vector<uint32_t>> clusters_of(const Shape& shape) {
  const Dim &grid = shape.grid, &size = shape.cluster;
  const Dim clusters{grid.x / size.x, grid.y / size.y, grid.z / size.z};
  vector<vector<uint32_t>> all(count(clusters), vector<uint32_t>(count(size)));
  for (uint32_t b = 0; b < count(grid); ++b) {
    const Dim at{b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y};
    const uint32_t cluster =
        at.x / size.x + clusters.x * (at.y / size.y + clusters.y * (at.z / size.z));
    const uint32_t rank = at.x % size.x + size.x * (at.y % size.y + size.y * (at.z % size.z));
    all[cluster][rank] = b;
  }
  return all;
}

vector<uint32_t> exchanged(const Shape& shape, uint32_t rounds) {
  const uint32_t threads = shape.block.x;
  vector<uint32_t> result(count(shape.grid) * threads);
  for (const auto& cluster : clusters_of(shape)) {
    vector<vector<uint32_t>> sums(cluster.size(), vector<uint32_t>(threads));
    for (uint32_t b = 0; b < cluster.size(); ++b) {
      for (uint32_t t = 0; t < threads; ++t) sums[b][t] = b * 1000 + t;
    }
    for (uint32_t r = 0; r < rounds; ++r) {
      vector<uint32_t> next(threads);
      for (uint32_t t = 0; t < threads; ++t) {
        for (uint32_t b = 0; b < cluster.size(); ++b)
          next[t] += sums[b][(t + b) % threads] * (b + 1);
      }
      for (auto& sum : sums) sum = next;
    }
    for (uint32_t b = 0; b < cluster.size(); ++b) {
      std::copy(sums[b].begin(), sums[b].end(), result.begin() + cluster[b] * threads);
    }
  }
  return result;
}

void check_exchange(const Dim& grid, uint32_t threads, const Dim& cluster) {
  const uint32_t rounds = 5;
  Shape shape{grid, {threads}, threads * sizeof(uint32_t)};
  shape.cluster = cluster;
  Buffer<uint32_t> out(session(), count(grid) * threads);
  kernels().run("exchange", shape, out, rounds);
  expect_bits("exchange", out.read(), exchanged(shape, rounds));
}

TEST(Cluster, BlocksReadEachOthersSharedMemory) {
  check_exchange({2}, 64, {2});
  check_exchange({64}, 128, {8});
  check_exchange({600}, 32, {2});  // more blocks than one thread keeps going
  check_exchange({6, 4, 4}, 96, {3, 1, 2});
  check_exchange({5, 2}, 1024, {1, 2});
  check_exchange({3}, 40, {1});
  check_exchange({12}, 904, {4});
}

TEST(Cluster, Registers) {
  Shape shape{{6, 4, 2}, {3}};
  shape.cluster = {3, 2, 1};
  const uint32_t blocks = 48, threads = 3;
  Buffer<uint32_t> out(session(), blocks * threads * 15);
  kernels().run("registers", shape, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < blocks * threads; ++i) {
    const uint32_t b = i / threads, x = b % 6, y = b / 6 % 4, z = b / 24;
    want.insert(want.end(),
                {x / 3, y / 2, z, 2, 2, 2, x % 3, y % 2, 0, 3, 2, 1, x % 3 + 3 * (y % 2), 6, 1});
  }
  expect_bits("registers", out.read(), want);
  shape = {{1}, {1}};
  kernels().run("registers", shape, out);
  want.assign({0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0});
  vector<uint32_t> got = out.read();
  got.resize(want.size());
  expect_bits("registers of no cluster", got, want);
}

TEST(Cluster, Addresses) {
  const uint32_t blocks = 8, threads = 64;
  Buffer<uint32_t> out(session(), blocks * threads * 6);
  kernels().run("addresses", Shape{{blocks}, {threads}}, out);  // the kernel says 4
  vector<uint32_t> want;
  for (uint32_t i = 0; i < blocks * threads; ++i) {
    const uint32_t t = i % threads, other = t % 4, value = other * 100 + t;
    want.insert(want.end(), {value, value, other, other, 1, 1});
  }
  expect_bits("addresses", out.read(), want);
}

TEST(Cluster, AtomicsInOtherBlocks) {
  const auto data = random_u32(20000, 3);
  const uint32_t bins = 4 * 32;
  Buffer<uint32_t> in(session(), data), out(session(), vector<uint32_t>(bins, 0U));
  Shape shape{{12}, {96}};
  shape.cluster = {4};
  kernels().run("histogram", shape, in, static_cast<uint32_t>(data.size()), out);
  vector<uint32_t> want(bins);
  for (const uint32_t value : data) want[value % bins] += 3;  // each cluster counts all of it
  expect_bits("histogram", out.read(), want);
}

TEST(Cluster, MulticastCopies) {
  const auto data = random_u32(32, 5);
  Buffer<uint32_t> in(session(), data), out(session(), 8 * 64);
  Shape shape{{8}, {96}};
  shape.cluster = {4};
  kernels().run("multicast", shape, in, out);
  vector<uint32_t> want;
  for (uint32_t b = 0; b < 8; ++b) {
    for (uint32_t i = 0; i < 64; ++i) want.push_back(b % 4 != 1 && i < 32 ? data[i] : 7);
  }
  expect_bits("multicast", out.read(), want);
}

TEST(Cluster, BlocksThatAreOverCount) {
  Buffer<uint32_t> out(session(), vector<uint32_t>(8 * 64, 0U));
  Shape shape{{8}, {64}};
  shape.cluster = {4};
  kernels().run("early_exit", shape, out);
  vector<uint32_t> want;
  for (uint32_t b = 0; b < 8; ++b) {
    const uint32_t rank = b % 4, value = rank == 3 ? 10 : rank == 0 ? 11 : rank == 1 ? 13 : 0;
    want.insert(want.end(), 64, value);
  }
  expect_bits("early_exit", out.read(), want);
}

TEST(Cluster, WrongSizesAreRefused) {
  Buffer<uint32_t> out(session(), 1000);
  const auto status_of = [&](const char* kernel, uint32_t blocks, const Dim& cluster) {
    Shape shape{{blocks}, {1}};
    shape.cluster = cluster;
    return kernels().try_run(kernel, shape, out);
  };
  EXPECT_EQ(status_of("registers", 7, {2}), KM_ERROR_INVALID_LAUNCH);
  EXPECT_NE(last_error_message().find("grid.x is 7"), std::string::npos) << last_error_message();
  EXPECT_EQ(status_of("registers", 16, {16}), KM_ERROR_INVALID_LAUNCH);
  EXPECT_EQ(status_of("registers", 16, {2, 0, 1}), KM_ERROR_INVALID_LAUNCH);
  EXPECT_EQ(status_of("addresses", 8, {2}), KM_ERROR_INVALID_LAUNCH);
  EXPECT_NE(last_error_message().find("reqnctapercluster"), std::string::npos);
  EXPECT_EQ(status_of("addresses", 6, {}), KM_ERROR_INVALID_LAUNCH);
  kernels().set_attribute("registers", KM_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER, 1);
  EXPECT_EQ(status_of("registers", 16, {16}), KM_SUCCESS);
}

TEST(Cluster, GridsMeet) {
  const uint32_t blocks = 12, threads = 96, n = blocks * threads, rounds = 6;
  Buffer<uint32_t> values(session(), n), out(session(), n);
  Shape shape{{blocks}, {threads}};
  shape.is_cooperative = true;
  vector<uint32_t> want(n);
  for (uint32_t i = 0; i < n; ++i) want[i] = i;
  for (uint32_t r = 0; r < rounds; ++r) {
    const auto old = want;
    for (uint32_t i = 0; i < n; ++i) {
      want[i] = 3 * old[i] + old[(i * 7 + 1 + r) % n] + old[n - 1 - i];
    }
  }
  for (int again = 0; again < 3; ++again) {
    kernels().run("grid_sync", shape, values, out, rounds);
    expect_bits("grid_sync", out.read(), want);
  }
  shape.grid = {1 << 20};
  EXPECT_EQ(kernels().try_run("grid_sync", shape, values, out, rounds), KM_ERROR_INVALID_LAUNCH);
  EXPECT_NE(last_error_message().find("cooperative"), std::string::npos) << last_error_message();
}

}  // namespace
}  // namespace km::kernels
