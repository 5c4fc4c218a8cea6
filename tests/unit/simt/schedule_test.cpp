// Schedule: the orders that seeds give to blocks, warps and lanes.
#include "simt/runtime/schedule.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <vector>

#include "simt/abi.h"
#include "simt/runtime/independent_warp.h"

namespace km::simt {
namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;
constexpr uint64_t kSeeds = 40;

TEST(Schedule, WithoutASeedNothingChanges) {
  Schedule schedule;
  EXPECT_FALSE(schedule.has_seed());
  EXPECT_EQ(schedule.block_at(5, 9, false), 5u);
  EXPECT_EQ(schedule.pick(7), 0u);
  EXPECT_FALSE(schedule.interrupts());
  EXPECT_FALSE(schedule.passes(3));
}

TEST(Schedule, EachBlockBeginsOnce) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Schedule schedule(seed, false, kNoLimit);
    for (const uint64_t count : {1, 2, 3, 64, 97, 1000}) {
      for (const bool may_wait : {false, true}) {
        std::set<uint64_t> all;
        for (uint64_t i = 0; i < count; ++i) all.insert(schedule.block_at(i, count, may_wait));
        EXPECT_EQ(all.size(), count);
        EXPECT_EQ(*all.rbegin(), count - 1);
      }
    }
  }
}

TEST(Schedule, BlocksThatMayWaitBeginNearTheirPlace) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Schedule schedule(seed, false, kNoLimit);
    for (uint64_t i = 0; i < 1000; ++i) {
      EXPECT_EQ(schedule.block_at(i, 1000, true) / 64, i / 64);
    }
  }
}

TEST(Schedule, TheLastBlockMayBeTheFirst) {
  const Schedule schedule(1, false, kNoLimit);
  EXPECT_EQ(schedule.block_at(0, 1000, false), 999u);
}

/// The groups of lanes that run while a warp of the given lanes leaves one place lane by lane.
std::vector<uint64_t> groups_of(uint64_t seed, bool in_step, uint32_t live) {
  Schedule schedule(seed, in_step, kNoLimit);
  IndependentWarp warp;
  independent_begin(&warp, live);
  warp.schedule = &schedule;
  std::vector<uint64_t> groups;
  while (warp.live != 0) {
    const uint64_t next = scheduled_next(&warp);
    const auto lanes = static_cast<uint32_t>(next);
    if (lanes == 0) {
      EXPECT_EQ(next >> 32, static_cast<uint64_t>(IndependentStatus::interrupted));
      continue;
    }
    EXPECT_EQ(lanes & ~warp.live, 0u);
    groups.push_back(lanes);
    warp.live &= ~lanes;
  }
  return groups;
}

TEST(Schedule, ASeedGivesOneOrderOfLanes) {
  std::set<std::vector<uint64_t>> orders;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    EXPECT_EQ(groups_of(seed, false, UINT32_MAX), groups_of(seed, false, UINT32_MAX));
    orders.insert(groups_of(seed, false, UINT32_MAX));
    EXPECT_EQ(groups_of(seed, true, UINT32_MAX), std::vector<uint64_t>{UINT32_MAX});
    EXPECT_EQ(groups_of(seed, false, 8), std::vector<uint64_t>{8});
  }
  EXPECT_GT(orders.size(), kSeeds / 2);
}

TEST(Schedule, LanesThatWaitForMemoryLetOthersRunFirst) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Schedule schedule(seed, false, kNoLimit);
    IndependentWarp warp;
    independent_begin(&warp, 3);
    warp.schedule = &schedule;
    warp.clock = warp.stamp[1] = 1;
    uint64_t next = 0;
    do next = scheduled_next(&warp);
    while (next >> 32 == static_cast<uint64_t>(IndependentStatus::interrupted));
    EXPECT_EQ(static_cast<uint32_t>(next), 1u);
    warp.clock = warp.stamp[0] = 2;
    EXPECT_EQ(scheduled_next(&warp) >> 32, static_cast<uint64_t>(IndependentStatus::waiting));
  }
}

TEST(Schedule, ALaunchIsGivenUp) {
  Schedule schedule(1, false, 3);
  IndependentWarp warp;
  independent_begin(&warp, UINT32_MAX);
  warp.schedule = &schedule;
  for (int step = 0; step < 3; ++step) EXPECT_NE(static_cast<uint32_t>(scheduled_next(&warp)), 0u);
  EXPECT_FALSE(schedule.is_over());
  EXPECT_EQ(static_cast<uint32_t>(scheduled_next(&warp)), 0u);
  EXPECT_TRUE(schedule.is_over());
}

}  // namespace
}  // namespace km::simt
