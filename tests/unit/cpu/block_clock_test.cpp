// BlockClock: what barriers, fences and atomics order, by hand-made sequences of events.
#include "backends/cpu/check/block_clock.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

namespace km::cpu {
namespace {

using simt::MemoryScope;

constexpr uint32_t kThreads = 128;

class BlockClockTest : public testing::Test {
 protected:
  void SetUp() override {
    clock_.begin(7, kThreads);
    other_.begin(8, kThreads);
  }
  /// A write of a thread at the present time.
  static AccessRecord write(const BlockClock& clock, uint32_t thread) {
    AccessRecord access;
    access.block = clock.block();
    access.tick = clock.now();
    access.thread = thread;
    access.era = 1;
    access.kind = static_cast<uint64_t>(simt::AccessKind::write);
    return access;
  }

  BlockClock clock_, other_;
};

TEST_F(BlockClockTest, AThreadKnowsOnlyWhatItDidItself) {
  const AccessRecord access = write(clock_, 5);
  EXPECT_TRUE(clock_.is_ordered(access, 5));
  EXPECT_FALSE(clock_.is_ordered(access, 6));
  EXPECT_FALSE(clock_.is_ordered(access, 40));
  EXPECT_FALSE(other_.is_ordered(access, 5));
}

TEST_F(BlockClockTest, ABarrierOrdersTheBlock) {
  const AccessRecord before = write(clock_, 5);
  for (uint32_t warp = 0; warp < 4; ++warp) clock_.arrive(0, warp, true);
  clock_.open(0, true);
  const AccessRecord after = write(clock_, 5);
  EXPECT_TRUE(clock_.is_ordered(before, 100));
  EXPECT_FALSE(clock_.is_ordered(after, 100));
  EXPECT_TRUE(clock_.has_passed_barrier(before.tick));
  EXPECT_FALSE(clock_.has_passed_barrier(after.tick));
}

TEST_F(BlockClockTest, ACopyIsOrderedOnceItsThreadHasWaited) {
  using simt::CopyKind;
  namespace groups = simt::copy_groups;
  const auto copy = [&](CopyKind kind) {
    AccessRecord access = write(clock_, 5);
    access.copy = static_cast<uint64_t>(kind);
    return access;
  };
  const AccessRecord first = copy(CopyKind::group);
  clock_.end_copies(0, 1U << 5, CopyKind::group, groups::kCommit);
  const AccessRecord second = copy(CopyKind::group);
  clock_.end_copies(0, 1U << 5, CopyKind::group, groups::kCommit);
  const AccessRecord third = copy(CopyKind::group);
  EXPECT_FALSE(clock_.is_ordered(first, 5));  // not even for the thread itself
  clock_.end_copies(0, 1U << 5, CopyKind::group, 1);
  EXPECT_TRUE(clock_.is_ordered(first, 5));
  EXPECT_FALSE(clock_.is_ordered(first, 6));  // which needs a barrier as well
  EXPECT_FALSE(clock_.is_ordered(second, 5));
  for (uint32_t warp = 0; warp < 4; ++warp) clock_.arrive(0, warp, true);
  clock_.open(0, true);
  EXPECT_TRUE(clock_.is_ordered(first, 100));
  EXPECT_FALSE(clock_.is_ordered(second, 100));
  clock_.end_copies(0, 1U << 5, CopyKind::bulk_group, 0);  // other copies
  EXPECT_FALSE(clock_.is_ordered(second, 5));
  clock_.end_copies(0, 1U << 5, CopyKind::group, 0);
  EXPECT_TRUE(clock_.is_ordered(second, 5));
  EXPECT_FALSE(clock_.is_ordered(third, 5));  // which is in no group
  clock_.end_copies(0, 1U << 5, CopyKind::group, groups::kWaitAll);
  EXPECT_TRUE(clock_.is_ordered(third, 5));
}

TEST_F(BlockClockTest, ACopyThatABarrierObjectCompletesIsOrderedByItAlone) {
  AccessRecord copied = write(clock_, 5);
  copied.copy = static_cast<uint64_t>(simt::CopyKind::barrier);
  const SharedKnowledge done = clock_.published_by_copy(5);
  for (uint32_t warp = 0; warp < 4; ++warp) clock_.arrive(0, warp, true);
  clock_.open(0, true);
  EXPECT_FALSE(clock_.is_ordered(copied, 5));
  EXPECT_FALSE(clock_.is_ordered(copied, 100));
  clock_.acquire(9, done, true);
  EXPECT_TRUE(clock_.is_ordered(copied, 9));
  EXPECT_FALSE(clock_.is_ordered(copied, 5));
  for (uint32_t warp = 0; warp < 4; ++warp) clock_.arrive(0, warp, true);
  clock_.open(0, true);
  EXPECT_TRUE(clock_.is_ordered(copied, 5));
  EXPECT_TRUE(clock_.is_ordered(copied, 100));
}

TEST_F(BlockClockTest, WhatAWarpInStepDidIsOver) {
  const AccessRecord before = write(clock_, 5);
  clock_.step_warp(0);
  const AccessRecord now = write(clock_, 5);
  EXPECT_TRUE(clock_.is_ordered(before, 6));
  EXPECT_FALSE(clock_.is_ordered(now, 6));
  EXPECT_FALSE(clock_.is_ordered(before, 40));
}

TEST_F(BlockClockTest, AWarpThatOnlyArrivesLearnsNothing) {
  const AccessRecord of_waiter = write(clock_, 40), of_arriver = write(clock_, 5);
  clock_.arrive(1, 0, false);
  const AccessRecord late = write(clock_, 5);
  clock_.arrive(1, 1, true);
  clock_.open(1, false);
  EXPECT_TRUE(clock_.is_ordered(of_arriver, 40));
  EXPECT_FALSE(clock_.is_ordered(late, 40));
  EXPECT_FALSE(clock_.is_ordered(of_waiter, 5));
}

TEST_F(BlockClockTest, NamedBarriersHandOnWhatTheirWarpsKnow) {
  const AccessRecord access = write(clock_, 5);
  clock_.arrive(1, 0, true);
  clock_.arrive(1, 1, true);
  clock_.open(1, false);
  EXPECT_FALSE(clock_.is_ordered(access, 70));
  clock_.arrive(2, 1, true);
  clock_.arrive(2, 2, true);
  clock_.open(2, false);
  EXPECT_TRUE(clock_.is_ordered(access, 70));
  EXPECT_FALSE(clock_.is_ordered(access, 100));
}

TEST_F(BlockClockTest, LanesThatMeetAreOrdered) {
  const AccessRecord access = write(clock_, 33);
  clock_.sync_warp(1, 0xffff);
  EXPECT_TRUE(clock_.is_ordered(access, 40));
  EXPECT_FALSE(clock_.is_ordered(access, 60));
  EXPECT_FALSE(clock_.is_ordered(access, 1));
  clock_.sync_warp(1, UINT32_MAX);
  EXPECT_TRUE(clock_.is_ordered(access, 60));
  EXPECT_FALSE(clock_.is_ordered(access, 1));
}

TEST_F(BlockClockTest, AFenceAndAReleaseReachAnotherBlockAfterItsFence) {
  const AccessRecord access = write(clock_, 5);
  EXPECT_EQ(clock_.published(5, false, MemoryScope::device), nullptr);
  clock_.fence(5, MemoryScope::device);
  const AccessRecord late = write(clock_, 5);
  const SharedKnowledge known = clock_.published(5, false, MemoryScope::device);
  ASSERT_NE(known, nullptr);
  other_.acquire(9, known, false);
  EXPECT_FALSE(other_.is_ordered(access, 9));
  other_.fence(9, MemoryScope::device);
  EXPECT_TRUE(other_.is_ordered(access, 9));
  EXPECT_FALSE(other_.is_ordered(late, 9));
  EXPECT_FALSE(other_.is_ordered(access, 10));
  for (uint32_t warp = 0; warp < 4; ++warp) other_.arrive(0, warp, true);
  other_.open(0, true);
  EXPECT_TRUE(other_.is_ordered(access, 10));
}

TEST_F(BlockClockTest, AFenceOfTheBlockPublishesNothingForOthers) {
  clock_.fence(5, MemoryScope::block);
  EXPECT_EQ(clock_.published(5, false, MemoryScope::device), nullptr);
  EXPECT_NE(clock_.published(5, false, MemoryScope::block), nullptr);
}

TEST_F(BlockClockTest, AReleasePublishesTheBlockUpToItsBarrier) {
  const AccessRecord before = write(clock_, 100);
  for (uint32_t warp = 0; warp < 4; ++warp) clock_.arrive(0, warp, true);
  clock_.open(0, true);
  const AccessRecord after = write(clock_, 100);
  const SharedKnowledge known = clock_.published(0, true, MemoryScope::device);
  other_.acquire(9, known, true);
  EXPECT_TRUE(other_.is_ordered(before, 9));
  EXPECT_FALSE(other_.is_ordered(after, 9));
}

TEST_F(BlockClockTest, AFenceBeforeABarrierCoversAReleaseAfterIt) {
  const AccessRecord access = write(clock_, 100);
  clock_.fence(100, MemoryScope::device);
  for (uint32_t warp = 0; warp < 4; ++warp) clock_.arrive(0, warp, true);
  clock_.open(0, true);
  other_.acquire(9, clock_.published(0, false, MemoryScope::device), true);
  EXPECT_TRUE(other_.is_ordered(access, 9));
}

TEST_F(BlockClockTest, ReadersOfABlockAreOrderedByItsBarrierOnly) {
  AccessRecord readers = write(clock_, 5);
  readers.kind = static_cast<uint64_t>(simt::AccessKind::read);
  readers.readers = static_cast<uint64_t>(Readers::block);
  clock_.sync_warp(0, UINT32_MAX);
  EXPECT_FALSE(clock_.is_ordered(readers, 5));
  readers.readers = static_cast<uint64_t>(Readers::warp);
  EXPECT_TRUE(clock_.is_ordered(readers, 5));
}

TEST(KnowledgeTest, TimesOfThreadsGiveWayToThoseOfTheirBlock) {
  Knowledge known;
  known.add_thread(3, 7, 10);
  known.add_thread(3, 8, 20);
  known.add_thread(4, 7, 5);
  EXPECT_TRUE(known.covers(3, 7, 9));
  EXPECT_FALSE(known.covers(3, 7, 10));
  EXPECT_FALSE(known.covers(3, 9, 1));
  EXPECT_FALSE(known.covers_block(3, 1));
  EXPECT_TRUE(known.covers_any(3, 19));
  EXPECT_FALSE(known.covers_any(3, 20));
  EXPECT_FALSE(known.covers_any(5, 0));
  Knowledge more;
  more.add_block(3, 15);
  known.add_all(&more);
  known.simplify();
  EXPECT_TRUE(known.covers(3, 9, 14));
  EXPECT_TRUE(known.covers(3, 8, 19));
  EXPECT_FALSE(known.covers(3, 7, 15));
  EXPECT_TRUE(known.covers(4, 7, 4));
}

TEST(KnowledgeTest, LongListsOfThreadsBecomeBlocks) {
  Knowledge known;
  for (uint32_t t = 0; t < 5000; ++t) known.add_thread(t / 1000, t % 1000, 1 + t);
  known.simplify();
  for (uint32_t block = 0; block < 5; ++block) {
    EXPECT_TRUE(known.covers_block(block, 1000 * block + 999));
    EXPECT_FALSE(known.covers_block(block, 1000 * block + 1000));
  }
}

/// Random times of three blocks with four threads each.
SharedKnowledge any_knowledge(std::minstd_rand& random) {
  auto known = std::make_shared<Knowledge>();
  for (unsigned i = random() % 7; i > 0; --i) {
    const uint32_t block = random() % 3, thread = random() % 4, tick = 1 + random() % 6;
    switch (random() % 3) {
      case 0:
        known->add_block(block, tick);
        break;
      case 1:
        known->add_thread(block, thread, tick);
        break;
      default:
        known->add_copies(block, thread, tick);
    }
  }
  known->simplify();
  return known;
}

TEST(KnowledgeTest, JoinedIsWhatOneOrTheOtherKnows) {
  std::minstd_rand random(1);
  unsigned same = 0;  // one of the two knew it all
  for (unsigned round = 0; round < 20000; ++round) {
    const SharedKnowledge a = any_knowledge(random), b = any_knowledge(random);
    const SharedKnowledge both = joined(a, b);
    same += both == a || both == b;
    for (uint32_t at = 0; at < 3 * 4 * 6; ++at) {
      const uint32_t block = at / 24, thread = at / 6 % 4, tick = at % 6;
      ASSERT_EQ(both->covers(block, thread, tick),
                a->covers(block, thread, tick) || b->covers(block, thread, tick));
      ASSERT_EQ(both->covers_copy(block, thread, tick),
                a->covers_copy(block, thread, tick) || b->covers_copy(block, thread, tick));
      ASSERT_EQ(both->covers_block(block, tick),
                a->covers_block(block, tick) || b->covers_block(block, tick));
      ASSERT_EQ(both->covers_any(block, tick),
                a->covers_any(block, tick) || b->covers_any(block, tick));
    }
  }
  EXPECT_GT(same, 1000u);
}

}  // namespace
}  // namespace km::cpu
