// DelayedStores and OldValues: which stores are made when, and who sees them.
#include "backends/cpu/trials/delayed_stores.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "backends/cpu/trials/old_values.h"

namespace km::cpu {
namespace {

class DelayedStoresTest : public testing::Test {
 protected:
  void delay(DelayedStores::Thread thread, uint32_t index, uint8_t value,
             bool is_of_block = false) {
    DelayedStores::Store store;
    store.thread = thread;
    store.address = address_of(index);
    store.size_bytes = 2;
    store.bytes = {value, value};
    store.is_of_block = is_of_block;
    stores_.add(store);
  }
  uint64_t address_of(uint32_t index) const {
    return reinterpret_cast<uint64_t>(memory_.data()) + index;
  }

  std::array<uint8_t, 16> memory_{};
  DelayedStores stores_;
  const DelayedStores::Thread first_{0, 1}, second_{0, 2}, other_{3, 1};
};

TEST_F(DelayedStoresTest, AThreadSeesItsOwn) {
  delay(first_, 0, 7);
  delay(first_, 4, 8);
  stores_.make_before(second_, address_of(0), 2);
  stores_.make_before(first_, address_of(2), 2);
  EXPECT_EQ(memory_[1], 0);
  stores_.make_before(first_, address_of(1), 1);
  EXPECT_EQ(memory_[0], 7);
  EXPECT_EQ(memory_[1], 7);
  EXPECT_EQ(memory_[4], 0);
  EXPECT_EQ(stores_.size(), 1u);
}

TEST_F(DelayedStoresTest, AFenceIsOfOneThread) {
  delay(first_, 0, 7);
  delay(second_, 2, 8);
  delay(other_, 4, 9);
  stores_.make_all(first_);
  EXPECT_EQ(memory_[0], 7);
  EXPECT_EQ(memory_[2], 0);
  stores_.make_block(0);
  EXPECT_EQ(memory_[2], 8);
  EXPECT_EQ(memory_[4], 0);
  stores_.make_all();
  EXPECT_EQ(memory_[4], 9);
  EXPECT_TRUE(stores_.is_empty());
}

TEST_F(DelayedStoresTest, ABlockThatEndsLeavesItsSharedMemory) {
  delay(first_, 0, 7, true);
  delay(first_, 2, 8);
  delay(other_, 4, 9, true);
  stores_.make_own(0);
  EXPECT_EQ(memory_[0], 7);
  EXPECT_EQ(memory_[2], 0);
  EXPECT_EQ(memory_[4], 0);
}

TEST_F(DelayedStoresTest, AnyOfThemMayComeFirst) {
  delay(first_, 0, 7);
  delay(first_, 2, 8);
  stores_.make(1);
  EXPECT_EQ(memory_[0], 0);
  EXPECT_EQ(memory_[2], 8);
  EXPECT_EQ(stores_.size(), 1u);
}

class OldValuesTest : public testing::Test {
 protected:
  void SetUp() override { clock_.begin(0, 64); }
  OldValues::Access access(uint32_t thread) const {
    return {reinterpret_cast<uint64_t>(&memory_), sizeof memory_, thread, false};
  }
  void write(uint32_t thread, uint32_t value) {
    old_.note_write(access(thread), clock_);
    memory_ = value;
  }
  /// The oldest value that a thread may see; memory's if that is the only one.
  uint32_t oldest(uint32_t thread) {
    const auto bytes = old_.older(access(thread), clock_, false, [](size_t n) { return n - 1; });
    uint32_t value = memory_;
    if (bytes) memcpy(&value, bytes->data(), sizeof value);
    return value;
  }

  alignas(16) uint32_t memory_ = 1;
  BlockClock clock_;
  OldValues old_;
};

TEST_F(OldValuesTest, OthersSeeWhatWasThere) {
  EXPECT_EQ(oldest(5), 1U);
  write(0, 2);
  write(0, 3);
  EXPECT_EQ(oldest(5), 1U);
  EXPECT_EQ(oldest(0), 3U);  // the thread itself
}

TEST_F(OldValuesTest, AFenceOfTheReaderEndsIt) {
  write(0, 2);
  old_.sync(0, 5);
  EXPECT_EQ(oldest(5), 2U);
  EXPECT_EQ(oldest(6), 1U);
  write(0, 3);
  EXPECT_EQ(oldest(5), 2U);
}

TEST_F(OldValuesTest, ABarrierOrdersItsThreads) {
  write(0, 2);
  for (const uint32_t warp : {0U, 1U}) clock_.arrive(0, warp, true);
  clock_.open(0, true);
  EXPECT_EQ(oldest(40), 2U);
}

TEST_F(OldValuesTest, WhatWasSeenIsNotUnseen) {
  write(0, 2);
  const auto newest = [](size_t n) { return n; };
  EXPECT_FALSE(old_.older(access(5), clock_, false, newest));
  EXPECT_EQ(oldest(5), 2U);
}

TEST_F(OldValuesTest, LoadsOfAThreadDoNotGoBack) {
  write(0, 2);
  write(0, 3);
  // The first of the older values is the one before the last store.
  const auto before_last = [](size_t) { return size_t{0}; };
  const auto bytes = old_.older(access(5), clock_, false, before_last);
  ASSERT_TRUE(bytes);
  EXPECT_EQ((*bytes)[0], 2);
  EXPECT_NE(oldest(5), 1U);
  write(0, 4);
  EXPECT_EQ(oldest(5), 3U);
  old_.see(access(6), clock_);  // such as a strong load
  EXPECT_EQ(oldest(6), 4U);
  EXPECT_EQ(oldest(7), 1U);
}

TEST_F(OldValuesTest, APartIsNotOlderThanTheWhole) {
  write(0, 2);
  OldValues::Access part = access(0);
  part.size_bytes = 2;
  old_.note_write(part, clock_);
  memory_ = 3;
  EXPECT_FALSE(old_.older(access(5), clock_, false, [](size_t n) { return n; }));
  part.thread = 5;
  EXPECT_FALSE(old_.older(part, clock_, false, [](size_t) { return size_t{0}; }));
}

TEST_F(OldValuesTest, NeighboursAreOtherPlaces) {
  alignas(16) uint32_t words[4] = {1, 1, 1, 1};
  const auto at = [&](uint32_t i, uint32_t thread) {
    return OldValues::Access{reinterpret_cast<uint64_t>(&words[i]), 4, thread, false};
  };
  for (const uint32_t i : {0U, 1U}) {
    old_.note_write(at(i, 0), clock_);
    words[i] = 2;
  }
  old_.see(at(1, 5), clock_);  // a flag
  const auto first = [](size_t) { return size_t{0}; };
  EXPECT_TRUE(old_.older(at(0, 5), clock_, false, first));
  EXPECT_FALSE(old_.older(at(1, 5), clock_, false, first));
}

TEST_F(OldValuesTest, ThreadsAreForgottenWithTheStores) {
  write(0, 2);
  for (uint32_t block = 1; block < 3 * OldValues::kMostEntries / 64; ++block) {
    clock_.begin(block, 64);
    old_.follow(clock_);
    for (uint32_t thread = 0; thread < 64; ++thread) {
      const uint32_t value = oldest(thread);
      EXPECT_LE(value, 2U);
      EXPECT_EQ(oldest(thread), 2U);
    }
    ASSERT_LE(old_.entries(), OldValues::kMostEntries + 1);
    if (block % 1000 == 0) write(0, 2);
  }
}

TEST_F(OldValuesTest, OtherBlocksSeeItUntilTheirThreadsMeet) {
  write(0, 2);
  clock_.begin(1, 64);
  EXPECT_EQ(oldest(5), 1U);
  old_.follow(clock_);
  for (const uint32_t warp : {0U, 1U}) clock_.arrive(0, warp, true);
  clock_.open(0, true);
  old_.follow(clock_);
  EXPECT_EQ(oldest(5), 2U);
}

TEST_F(OldValuesTest, MemoryOfABlockIsNoOtherBlocks) {
  OldValues::Access own = access(0);
  own.is_own = true;
  old_.note_write(own, clock_);
  memory_ = 2;
  clock_.begin(1, 64);
  own.thread = 5;
  EXPECT_FALSE(old_.older(own, clock_, false, [](size_t) { return size_t{0}; }));
}

}  // namespace
}  // namespace km::cpu
