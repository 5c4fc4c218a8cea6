// WriteLog: what a launch wrote, put back and compared.
#include "backends/cpu/trials/write_log.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "backends/cpu/fault/fault.h"
#include "backends/cpu/memory/address_space.h"

namespace km::cpu {
namespace {

class WriteLogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::iota(memory_.begin(), memory_.end(), uint8_t{0});
    allocations_.add(address_of(0), memory_.size());
  }
  uint64_t address_of(uint64_t index) const {
    return reinterpret_cast<uint64_t>(memory_.data()) + index;
  }
  /// Writes as a kernel does: the log hears of it before.
  bool write(uint64_t index, uint8_t value, bool is_float_sum = false) {
    const bool is_kept = log_.note({address_of(index), 1, is_float_sum});
    memory_[index] = value;
    return is_kept;
  }

  std::array<uint8_t, 200> memory_{};
  Allocations allocations_;
  WriteLog log_{allocations_};
};

TEST_F(WriteLogTest, WhatWasThereComesBack) {
  const auto before = memory_;
  EXPECT_TRUE(log_.note({address_of(60), 16, false}));  // over the end of a line
  for (uint64_t i = 60; i < 76; ++i) memory_[i] = 255;
  EXPECT_TRUE(write(60, 254));
  log_.keep_result();
  const auto after = memory_;
  log_.restore();
  EXPECT_EQ(memory_, before);
  log_.restore_result();
  EXPECT_EQ(memory_, after);
}

TEST_F(WriteLogTest, OnlyWhatWasWrittenIsPutBack) {
  write(10, 1);
  log_.keep_result();
  memory_[11] = 99;  // by somebody else
  log_.restore();
  EXPECT_EQ(memory_[10], 10);
  EXPECT_EQ(memory_[11], 99);
}

TEST_F(WriteLogTest, DifferencesFromTheResult) {
  write(10, 1);
  write(100, 2);
  log_.keep_result();
  EXPECT_FALSE(log_.difference());
  log_.restore();
  write(100, 3);
  write(150, 4);  // the first run did not write it
  const auto found = log_.difference();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->address, address_of(10));
  EXPECT_EQ(found->count, 3u);
  EXPECT_FALSE(found->is_of_sums);
  EXPECT_EQ(log_.result_at(address_of(10)), 1);
  EXPECT_EQ(log_.result_at(address_of(150)), 150);
  log_.restore_result();
  EXPECT_EQ(memory_[150], 150);
}

TEST_F(WriteLogTest, SumsAreToldApart) {
  write(10, 1, true);
  write(20, 1);
  log_.keep_result();
  write(10, 2, true);
  EXPECT_TRUE(log_.difference()->is_of_sums);
  EXPECT_TRUE(log_.has_float_sums());
  write(20, 2);
  EXPECT_FALSE(log_.difference()->is_of_sums);
}

TEST_F(WriteLogTest, OtherMemoryIsNotKept) {
  uint8_t own = 0;
  EXPECT_FALSE(log_.note({reinterpret_cast<uint64_t>(&own), 1, false}));
  EXPECT_FALSE(log_.note({address_of(199), 2, false}));
  EXPECT_FALSE(log_.difference());
}

TEST(WriteLog, SurvivesTheEndOfItsMemory) {
  ASSERT_TRUE(install_fault_handler());
  GuardedRange range = GuardedRange::make(kPageBytes);
  const uint64_t begin = range.begin();
  Allocations allocations;
  allocations.add(begin, kPageBytes);
  WriteLog log(allocations);
  EXPECT_TRUE(log.note({begin, 8, false}));
  range.data()[0] = 7;
  log.keep_result();
  range = GuardedRange();
  log.restore();
  EXPECT_TRUE(log.difference());
  log.restore_result();
  EXPECT_EQ(log.result_at(begin), 7);
  EXPECT_EQ(log.result_at(begin + 100), 0);
  EXPECT_TRUE(log.note({begin + 64, 8, false}));
}

}  // namespace
}  // namespace km::cpu
