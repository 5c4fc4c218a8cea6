// Blocks are handed out once each, in ever smaller pieces.
#include "backends/cpu/execution/block_range.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace km::cpu {
namespace {

struct Piece {
  uint64_t first, last;
  uint64_t size() const { return last - first; }
};

std::vector<Piece> all_pieces(BlockRange& range, uint32_t part) {
  std::vector<Piece> pieces;
  for (Piece piece{}; range.take(&part, &piece.first, &piece.last);) pieces.push_back(piece);
  return pieces;
}

TEST(BlockRange, OnePartInOrder) {
  BlockRange range;
  range.reset(5, 25, 6);
  const auto pieces = all_pieces(range, 0);
  ASSERT_EQ(pieces.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(pieces[i].first, 5 + 6 * i);
  EXPECT_EQ(pieces.back().last, 25u);
}

TEST(BlockRange, NoMoreThanAskedFor) {
  BlockRange range;
  BlockRange::SharedParts parts(2);
  range.reset(0, 100, 10, UINT64_MAX, &parts, 2);
  uint32_t part = 0;
  Piece piece{};
  ASSERT_TRUE(range.take(&part, &piece.first, &piece.last, 4));
  EXPECT_EQ(piece.first, 0u);
  EXPECT_EQ(piece.last, 4u);
  ASSERT_TRUE(range.take(&part, &piece.first, &piece.last, 40));
  EXPECT_EQ(piece.first, 4u);
  EXPECT_EQ(piece.last, 14u);
}

TEST(BlockRange, PiecesShrinkToTheLeast) {
  BlockRange range;
  BlockRange::SharedParts parts(2);
  range.reset(0, 2000, 3, 4, &parts, 2);
  const auto pieces = all_pieces(range, 1);
  EXPECT_EQ(pieces.front().first, 1000u);
  EXPECT_EQ(pieces.front().size(), 250u);
  uint64_t next = 1000, most = 250;
  for (const Piece& piece : pieces) {
    if (piece.first == 0) {  // of the other part, when its own is done
      next = 0;
      most = 250;
    }
    EXPECT_EQ(piece.first, next);
    EXPECT_LE(piece.size(), most);
    if (piece.last != 1000 && piece.last != 2000) {
      EXPECT_GE(piece.size(), 3u);
    }
    next = piece.last;
    most = piece.size();
  }
  EXPECT_EQ(next, 1000u);
}

TEST(BlockRange, EveryBlockOnce) {
  constexpr uint32_t kThreads = 4;
  constexpr uint64_t kBlocks = 100001;
  BlockRange range;
  BlockRange::SharedParts parts(kThreads);
  range.reset(7, 7 + kBlocks, 1, 16, &parts, kThreads);
  std::vector<std::vector<Piece>> taken(kThreads);
  {
    std::vector<std::jthread> threads;
    for (uint32_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] { taken[t] = all_pieces(range, range.claim(0)); });
    }
  }
  std::vector<int> times(kBlocks + 7);
  for (const auto& pieces : taken) {
    for (const Piece& piece : pieces) {
      for (uint64_t i = piece.first; i < piece.last; ++i) ++times.at(i);
    }
  }
  for (uint64_t i = 0; i < times.size(); ++i) ASSERT_EQ(times[i], i < 7 ? 0 : 1) << i;
}

// More parts than a word has bits; one thread takes from all of them, from the middle on.
TEST(BlockRange, ManyPartsByOneThread) {
  constexpr uint64_t kBlocks = 1000;
  for (const uint32_t count : {1u, 2u, 63u, 64u, 65u, 128u, 200u, 256u}) {
    BlockRange range;
    BlockRange::SharedParts parts(count);
    range.reset(0, kBlocks, 1, 4, &parts, count);
    std::vector<int> times(kBlocks);
    for (const Piece& piece : all_pieces(range, range.claim(count / 2))) {
      for (uint64_t i = piece.first; i < piece.last; ++i) ++times.at(i);
    }
    EXPECT_EQ(times, std::vector<int>(kBlocks, 1)) << count;
  }
}

// Parts without blocks, since there are fewer blocks than parts.
TEST(BlockRange, FewerBlocksThanParts) {
  BlockRange range;
  BlockRange::SharedParts parts(100);
  range.reset(0, 3, 1, 16, &parts, 100);
  EXPECT_EQ(all_pieces(range, 99).size(), 3u);
}

TEST(BlockRange, EachThreadClaimsAPartOfItsOwn) {
  BlockRange range;
  BlockRange::SharedParts parts(200);
  range.reset(0, 1000, 1, 16, &parts, 200);
  std::vector<int> claims(200);
  for (int i = 0; i < 200; ++i) ++claims.at(range.claim(150));
  EXPECT_EQ(claims, std::vector<int>(200, 1));
  EXPECT_EQ(range.claim(7), 7u);  // all are claimed
}

TEST(BlockRange, ClosedGivesNothing) {
  BlockRange range;
  BlockRange::SharedParts parts(2);
  range.reset(0, 100, 1, 16, &parts, 2);
  Piece piece{};
  uint32_t part = 0;
  ASSERT_TRUE(range.take(&part, &piece.first, &piece.last));
  range.close();
  EXPECT_FALSE(range.take(&part, &piece.first, &piece.last));
}

}  // namespace
}  // namespace km::cpu
