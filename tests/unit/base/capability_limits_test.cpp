#include "base/cuda/capability_limits.h"

#include <gtest/gtest.h>

namespace {

using km::capability_limits;
using km::CapabilityLimits;

// The table of technical specifications in CUDA's programming guide.
TEST(CapabilityLimits, AreThoseOfTheGuide) {
  const struct {
    uint32_t capability, blocks, threads, shared_kib, block_shared_kib, reserved_bytes;
  } guide[] = {{75, 16, 1024, 64, 64, 0},       {80, 32, 2048, 164, 163, 1024},
               {86, 16, 1536, 100, 99, 1024},   {87, 16, 1536, 164, 163, 1024},
               {89, 24, 1536, 100, 99, 1024},   {90, 32, 2048, 228, 227, 1024},
               {100, 32, 2048, 228, 227, 1024}, {110, 24, 1536, 228, 227, 1024},
               {120, 24, 1536, 100, 99, 1024}};
  for (const auto& row : guide) {
    const CapabilityLimits limits = capability_limits(row.capability);
    EXPECT_EQ(limits.blocks, row.blocks) << row.capability;
    EXPECT_EQ(limits.threads, row.threads) << row.capability;
    EXPECT_EQ(limits.registers, 65536u) << row.capability;
    EXPECT_EQ(limits.block_registers, 65536u) << row.capability;
    EXPECT_EQ(limits.shared_bytes, uint64_t{row.shared_kib} << 10) << row.capability;
    EXPECT_EQ(limits.block_shared_bytes, uint64_t{row.block_shared_kib} << 10) << row.capability;
    EXPECT_EQ(limits.reserved_shared_bytes, row.reserved_bytes) << row.capability;
    EXPECT_EQ(limits.shared_unit_bytes, row.capability < 80 ? 256u : 128u) << row.capability;
  }
}

TEST(CapabilityLimits, OthersHaveThoseOfTheRowBefore) {
  EXPECT_EQ(capability_limits(50).block_registers, 65536u);
  EXPECT_EQ(capability_limits(53).block_registers, 32768u);
  EXPECT_EQ(capability_limits(60).register_partitions, 2u);
  EXPECT_EQ(capability_limits(88).blocks, capability_limits(87).blocks);
  EXPECT_EQ(capability_limits(121).threads, capability_limits(120).threads);
  EXPECT_EQ(capability_limits(129).block_shared_bytes, uint64_t{99} << 10);
}

TEST(CapabilityLimits, AMultiprocessorHoldsOneBlockAtLeast) {
  const CapabilityLimits usual = capability_limits(89);
  const CapabilityLimits more = km::with_block_shared_bytes(usual, 227 << 10);
  EXPECT_EQ(more.block_shared_bytes, uint64_t{227} << 10);
  EXPECT_EQ(more.shared_bytes, uint64_t{228} << 10);
  EXPECT_EQ(more.threads, usual.threads);
  const CapabilityLimits less = km::with_block_shared_bytes(usual, 48 << 10);
  EXPECT_EQ(less.shared_bytes, usual.shared_bytes);
}

}  // namespace
