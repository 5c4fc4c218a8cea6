// DelayedStores: which stores are made when.
#include "backends/cpu/trials/delayed_stores.h"

#include <gtest/gtest.h>

#include <array>

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

}  // namespace
}  // namespace km::cpu
