// BlockChecks: stores of several blocks that run at the same time, each reported before it is made.
#include "backends/cpu/check/block_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

namespace km::cpu {
namespace {

using simt::AccessKind;
using simt::kWarpLanes;

/// Blocks of one warp, each on a thread of the runtime's own.
class BlockChecksTest : public testing::Test {
 protected:
  static constexpr uint32_t kBlocks = 3;

  void SetUp() override {
    for (uint32_t i = 0; i < kBlocks; ++i) {
      launch_.add_store(&stores_[i]);
      BlockChecks::Block block;
      block.launch = &launch_;
      block.number = i;
      block.thread_count = kWarpLanes;
      block.store = &stores_[i];
      blocks_[i].begin(block);
    }
  }
  void TearDown() override {
    for (ReportedStore& store : stores_) launch_.remove_store(&store);
  }

  /// All lanes of a block's warp report that they store a value in `word`, and do not yet store it.
  void report(uint32_t block, uint32_t value, uint32_t line, uint32_t* word) {
    std::array<uint32_t, kWarpLanes> values;
    values.fill(value);
    report(block, values, line, word, 0);
  }
  /// Each lane stores its own value, in the word that is its number times `step` away.
  void report(uint32_t block, const std::array<uint32_t, kWarpLanes>& values, uint32_t line,
              uint32_t* first, uint64_t step) {
    simt::AccessNote note{};
    note.line = line;
    note.size_bytes = note.element_bytes = sizeof(uint32_t);
    report(block, note, reinterpret_cast<const uint8_t*>(values.data()), first, step);
  }
  void report(uint32_t block, simt::AccessNote note, const uint8_t* values, uint32_t* first,
              uint64_t step) {
    note.kind = AccessKind::write;
    std::array<uint64_t, kWarpLanes> addresses{};
    for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      addresses[lane] = reinterpret_cast<uint64_t>(first + step * lane);
    }
    blocks_[block].note_access({addresses.data(), UINT32_MAX, 0, &note, values, kWarpLanes});
  }
  /// Lane 1 of a block reports that it copies to all words, and does not yet do so. After `held`
  /// bytes of the source zeros follow.
  void copy(uint32_t block, uint32_t line, const uint32_t* source, uint16_t byte_mask,
            uint64_t held_bytes = sizeof words_) {
    simt::AccessNote note{};
    note.line = line;
    note.element_bytes = 1;
    note.kind = AccessKind::write;
    std::array<uint64_t, kWarpLanes> to{}, from{}, sizes{}, held{};
    std::array<uint16_t, kWarpLanes> masks{};
    to[1] = reinterpret_cast<uint64_t>(words_);
    from[1] = reinterpret_cast<uint64_t>(source);
    sizes[1] = sizeof words_;
    held[1] = held_bytes;
    masks[1] = byte_mask;
    const simt::StoreSources sources{from.data(), held.data(), masks.data()};
    AccessReport report{to.data(), 1U << 1, 0, &note, nullptr, kWarpLanes};
    report.sizes = sizes.data();
    report.sources = &sources;
    blocks_[block].note_ranges(report);
  }
  size_t count(bool same) const {
    const std::vector<Race> races = launch_.races();
    return static_cast<size_t>(std::count_if(races.begin(), races.end(), [&](const Race& race) {
      return race.is_same_value == same && race.distance() == Race::Distance::grid;
    }));
  }

  LaunchChecks launch_{simt::check_tool::kRace};
  std::array<ReportedStore, kBlocks> stores_;
  std::array<BlockChecks, kBlocks> blocks_;
  uint32_t words_[2 * kWarpLanes] = {};
};

TEST_F(BlockChecksTest, AStoreThatIsNotYetMadeIsKnownByItsReport) {
  const auto begin = std::chrono::steady_clock::now();
  for (uint32_t block = 0; block < kBlocks; ++block) report(block, 5, 10, words_);
  EXPECT_EQ(count(false), 0U);
  EXPECT_EQ(count(true), 1U);
  // Nobody waits for the memory, which other blocks might then wait for.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(50));
}

/// The lanes of one store may write memory that nobody else sees, or is not the launch's.
TEST_F(BlockChecksTest, AStoreIsKnownWhereverItsFirstLaneWrites) {
  simt::AccessNote note{};
  note.line = 10;
  note.size_bytes = note.element_bytes = sizeof(uint32_t);
  note.kind = AccessKind::write;
  std::array<uint32_t, kWarpLanes> values;
  values.fill(5);
  std::array<uint64_t, kWarpLanes> addresses;
  addresses.fill(reinterpret_cast<uint64_t>(words_));
  addresses[0] = launch_.unused().begin;
  for (uint32_t block = 0; block < kBlocks; ++block) {
    blocks_[block].note_access({addresses.data(), UINT32_MAX, 0, &note,
                                reinterpret_cast<const uint8_t*>(values.data()), kWarpLanes});
  }
  EXPECT_EQ(count(false), 0U);
  EXPECT_EQ(count(true), 1U);
}

TEST_F(BlockChecksTest, AStoreThatMemoryHoldsByChanceDiffers) {
  report(0, 5, 10, words_);
  report(1, 0, 20, words_);
  EXPECT_EQ(count(false), 1U);
  EXPECT_EQ(count(true), 0U);
}

TEST_F(BlockChecksTest, AStoreBeforeTheLastReportHasBeenMade) {
  report(0, 5, 10, words_);
  words_[0] = 5;
  report(0, 6, 11, words_ + 1);
  report(1, 5, 20, words_);
  report(1, 7, 21, words_);
  EXPECT_EQ(count(true), 1U);
  EXPECT_EQ(count(false), 0U);
  report(2, 6, 30, words_);
  EXPECT_EQ(count(false), 1U);
}

TEST_F(BlockChecksTest, EachLanesValueIsCompared) {
  std::array<uint32_t, kWarpLanes> values;
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) values[lane] = 100 + lane;
  report(0, values, 10, words_, 1);
  report(1, values, 20, words_, 1);
  EXPECT_EQ(count(false), 0U);
  EXPECT_EQ(count(true), 1U);
  values[7] = 0;
  report(2, values, 30, words_, 1);
  EXPECT_EQ(count(false), 1U);
}

/// The elements of a lane are apart in a report, and side by side in memory.
TEST_F(BlockChecksTest, NarrowElementsOfAWordAreComparedTogether) {
  std::array<uint16_t, 2 * kWarpLanes> values;
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    values[lane] = static_cast<uint16_t>(lane);
    values[kWarpLanes + lane] = static_cast<uint16_t>(1000 + lane);
  }
  const auto report_pairs = [&](uint32_t block, uint32_t line) {
    simt::AccessNote note{};
    note.line = line;
    note.size_bytes = 2 * sizeof(uint16_t);
    note.element_bytes = sizeof(uint16_t);
    report(block, note, reinterpret_cast<const uint8_t*>(values.data()), words_, 1);
  };
  report_pairs(0, 10);
  report_pairs(1, 20);
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) words_[lane] = (1000 + lane) << 16 | lane;
  report(1, 1, 21, words_ + kWarpLanes);
  report_pairs(2, 30);
  EXPECT_EQ(count(false), 0U);
  EXPECT_EQ(count(true), 2U);
}

/// The source may be used again once the copy is made, which the next report need not say.
TEST_F(BlockChecksTest, ACopyOfManyBytesIsKnownByItsReport) {
  std::array<uint32_t, 2 * kWarpLanes> source;
  source.fill(5);
  copy(0, 10, source.data(), 0xffff);
  copy(1, 20, source.data(), 0xffff);
  EXPECT_EQ(count(false), 0U);
  EXPECT_EQ(count(true), 1U);
  std::array<uint32_t, 2 * kWarpLanes> other;
  other.fill(6);
  source.fill(7);
  copy(2, 30, other.data(), 0xffff);
  EXPECT_EQ(count(false), 1U);
  EXPECT_EQ(count(true), 1U);
}

TEST_F(BlockChecksTest, AStoreBesideACopyIsCompared) {
  std::array<uint32_t, 2 * kWarpLanes> source;
  for (uint32_t i = 0; i < source.size(); ++i) source[i] = i + 1;
  copy(0, 10, source.data(), 0xffff);
  std::array<uint32_t, kWarpLanes> values;
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) values[lane] = lane + 1;
  report(1, values, 20, words_, 1);
  EXPECT_EQ(count(false), 0U);
  EXPECT_EQ(count(true), 1U);
  report(1, values, 21, words_ + kWarpLanes, 1);
  EXPECT_EQ(count(false), 1U);
}

TEST_F(BlockChecksTest, ACopyLeavesOutWhatItsMaskDoes) {
  std::array<uint32_t, 2 * kWarpLanes> source{};
  source.fill(5);
  copy(0, 10, source.data(), 0x0fff);
  copy(1, 20, source.data(), 0xf000);
  EXPECT_EQ(count(false) + count(true), 0U);
  copy(2, 30, source.data(), 0x00ff);
  EXPECT_EQ(count(true), 1U);
  EXPECT_EQ(count(false), 0U);
}

TEST_F(BlockChecksTest, ACopyEndsWithZerosBehindItsSource) {
  const std::array<uint32_t, kWarpLanes> source = {1, 2, 3};
  copy(0, 10, source.data(), 0xffff, sizeof source);
  copy(1, 20, source.data(), 0xffff, 3 * sizeof(uint32_t));
  EXPECT_EQ(count(false), 0U);
  EXPECT_EQ(count(true), 1U);
  copy(2, 30, source.data(), 0xffff, 2 * sizeof(uint32_t));
  EXPECT_EQ(count(false), 1U);
}

TEST_F(BlockChecksTest, ABlocksNextStoreOfTheLineIsAnother) {
  report(0, 5, 10, words_);
  words_[0] = 5;
  report(0, 6, 10, words_ + kWarpLanes);
  report(1, 5, 20, words_);
  EXPECT_EQ(count(false), 0U);
  EXPECT_EQ(count(true), 1U);
}

}  // namespace
}  // namespace km::cpu
