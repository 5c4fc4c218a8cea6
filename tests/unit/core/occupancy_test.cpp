#include "core/launch/occupancy.h"

#include <gtest/gtest.h>

namespace km::test {
namespace {

/// Compute capability 9.0, with as many multiprocessors as an H100 has.
MultiprocessorLimits h100() {
  MultiprocessorLimits limits;
  limits.count = 132;
  limits.warp_threads = 32;
  limits.threads = 2048;
  limits.block_threads = 1024;
  limits.blocks = 32;
  limits.registers = limits.block_registers = 65536;
  limits.shared_bytes = 228 << 10;
  limits.block_shared_bytes = 227 << 10;
  limits.reserved_shared_bytes = 1 << 10;
  limits.has_clusters = true;
  return limits;
}

/// A kernel that has opted in to all of a block's shared memory.
KernelNeeds with_registers(uint32_t registers) { return {registers, 0, 1024, 227 << 10}; }

// What NVIDIA's occupancy calculator says for 9.0.
TEST(Occupancy, CountsRegistersAsTheyAreGivenOut) {
  const struct {
    uint32_t registers, threads, blocks;
    km_occupancy_limit limit;
  } known[] = {
      {32, 256, 8, KM_OCCUPANCY_LIMIT_WARPS},      {33, 256, 6, KM_OCCUPANCY_LIMIT_REGISTERS},
      {64, 1024, 1, KM_OCCUPANCY_LIMIT_REGISTERS}, {65, 1024, 0, KM_OCCUPANCY_LIMIT_REGISTERS},
      {128, 128, 4, KM_OCCUPANCY_LIMIT_REGISTERS}, {255, 32, 8, KM_OCCUPANCY_LIMIT_REGISTERS},
      {16, 32, 32, KM_OCCUPANCY_LIMIT_BLOCKS},     {40, 192, 8, KM_OCCUPANCY_LIMIT_REGISTERS},
  };
  for (const auto& one : known) {
    const km_occupancy found =
        compute_occupancy(h100(), with_registers(one.registers), one.threads, 0);
    EXPECT_EQ(found.active_blocks, one.blocks) << one.registers << " x " << one.threads;
    EXPECT_EQ(found.limit, one.limit) << one.registers << " x " << one.threads;
  }
}

TEST(Occupancy, NoRegistersAndOddBlocksAreNoDivisionByZero) {
  const km_occupancy found = compute_occupancy(h100(), with_registers(0), 1, 0);
  EXPECT_EQ(found.active_blocks, 32);
  EXPECT_EQ(found.active_warps, 32);
  EXPECT_EQ(found.registers_per_block, 0);
  MultiprocessorLimits bare = h100();
  bare.reserved_shared_bytes = 0;
  EXPECT_EQ(compute_occupancy(bare, with_registers(0), 1, 0).blocks_by_shared_memory, UINT32_MAX);
}

TEST(Occupancy, BestBlockTakesTheLargestOfEquals) {
  const auto none = [](uint32_t) -> Result<uint64_t> { return uint64_t{0}; };
  EXPECT_EQ(find_best_block(h100(), with_registers(32), none, 0)->threads, 1024);
  EXPECT_EQ(find_best_block(h100(), with_registers(32), none, 0)->grid_blocks, 264);
  // 40 registers: 48 warps fit, in blocks of 24.
  EXPECT_EQ(find_best_block(h100(), with_registers(40), none, 0)->threads, 768);
  // Limits that are no multiples of a warp.
  EXPECT_EQ(find_best_block(h100(), with_registers(32), none, 100)->threads, 64);
  EXPECT_EQ(find_best_block(h100(), with_registers(32), none, 20)->threads, 20);
  const auto much = [](uint32_t) { return uint64_t{1} << 30; };
  EXPECT_EQ(find_best_block(h100(), with_registers(32), much, 0)->threads, 0);
}

TEST(Occupancy, SharedMemoryThatIsLeftIsExact) {
  KernelNeeds needs = with_registers(32);
  needs.static_shared_bytes = 1000;
  for (uint32_t blocks = 1; blocks <= 8; ++blocks) {
    const Result<uint64_t> bytes = available_shared_bytes(h100(), needs, blocks, 256);
    ASSERT_TRUE(bytes);
    EXPECT_GE(compute_occupancy(h100(), needs, 256, *bytes).active_blocks, blocks);
    EXPECT_LT(compute_occupancy(h100(), needs, 256, *bytes + 128).active_blocks, blocks);
  }
  EXPECT_FALSE(available_shared_bytes(h100(), needs, 9, 256));
  needs.max_dynamic_shared_bytes = (48 << 10) - 1000;
  EXPECT_EQ(*available_shared_bytes(h100(), needs, 1, 256), (48U << 10) - 1000);
}

TEST(Occupancy, WhatIsNotOptedInToFitsNowhere) {
  KernelNeeds needs = with_registers(32);
  needs.max_dynamic_shared_bytes = 48 << 10;
  EXPECT_EQ(compute_occupancy(h100(), needs, 64, 48 << 10).active_blocks, 4);
  const km_occupancy found = compute_occupancy(h100(), needs, 64, (48 << 10) + 1);
  EXPECT_EQ(found.active_blocks, 0);
  EXPECT_EQ(found.limit, KM_OCCUPANCY_LIMIT_SHARED_MEMORY);
  const auto by_size = [](uint32_t threads) -> Result<uint64_t> { return threads * uint64_t{512}; };
  EXPECT_EQ(find_best_block(h100(), needs, by_size, 0)->threads, 32);
  needs.max_dynamic_shared_bytes = 227 << 10;
  EXPECT_EQ(find_best_block(h100(), needs, by_size, 0)->threads, 448);
}

}  // namespace
}  // namespace km::test
