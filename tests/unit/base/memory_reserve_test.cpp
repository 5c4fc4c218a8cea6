#include "base/memory/memory_reserve.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace km {
namespace {

constexpr size_t kBytes = 4096;

struct Block {
  alignas(16) char memory[kBytes];
};

TEST(MemoryReserve, HandsOutAlignedPiecesOneAfterTheOther) {
  Block block;
  MemoryReserve reserve(block.memory, kBytes);
  char* before = block.memory;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{16}, size_t{17}, size_t{100}}) {
    auto* const piece = static_cast<char*>(reserve.allocate(size));
    ASSERT_NE(piece, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % 16, 0U);
    EXPECT_GE(piece, before + 16);
    EXPECT_GE(MemoryReserve::size_of(piece), size);
    EXPECT_TRUE(reserve.owns(piece));
    std::memset(piece, 0xFF, MemoryReserve::size_of(piece));
    before = piece + size;
  }
  EXPECT_FALSE(reserve.owns(block.memory + kBytes));
  EXPECT_FALSE(reserve.owns(&reserve));
  EXPECT_FALSE(reserve.owns(nullptr));
}

TEST(MemoryReserve, RefusesWhatDoesNotFit) {
  Block block;
  MemoryReserve reserve(block.memory, kBytes);
  for (const size_t size : {kBytes, kBytes - 15, SIZE_MAX, SIZE_MAX - 8, SIZE_MAX - 16}) {
    EXPECT_EQ(reserve.allocate(size), nullptr) << size;
  }
  EXPECT_EQ(reserve.left_bytes(), kBytes);
  EXPECT_NE(reserve.allocate(kBytes - 16), nullptr);
  EXPECT_EQ(reserve.left_bytes(), 0U);
  EXPECT_EQ(reserve.allocate(0), nullptr);
}

TEST(MemoryReserve, BeginsAgainWhenAllPiecesAreBack) {
  Block block;
  MemoryReserve reserve(block.memory, kBytes);
  void* const first = reserve.allocate(1000);
  void* const second = reserve.allocate(1000);
  reserve.release(first);
  EXPECT_LT(reserve.left_bytes(), kBytes - 2000);
  reserve.release(second);
  EXPECT_EQ(reserve.left_bytes(), kBytes);
  EXPECT_EQ(reserve.allocate(1000), first);
}

TEST(MemoryReserve, ClosesOnlyWhenNothingIsInUse) {
  Block block;
  MemoryReserve reserve;
  EXPECT_EQ(reserve.allocate(1), nullptr);
  EXPECT_EQ(reserve.close(), nullptr);
  reserve.open(block.memory, kBytes);
  void* const piece = reserve.allocate(1);
  ASSERT_NE(piece, nullptr);
  EXPECT_EQ(reserve.close(), nullptr);
  reserve.release(piece);
  EXPECT_EQ(reserve.close(), block.memory);
  EXPECT_FALSE(reserve.owns(block.memory));
  EXPECT_EQ(reserve.allocate(1), nullptr);
}

TEST(MemoryReserve, ServesThreadsAtOnce) {
  static Block block;
  MemoryReserve reserve(block.memory, kBytes);
  std::vector<std::thread> threads;
  for (char i = 1; i <= 4; ++i) {
    threads.emplace_back([&reserve, i] {
      for (int turn = 0; turn < 2000; ++turn) {
        auto* const piece = static_cast<char*>(reserve.allocate(64));
        if (piece == nullptr) continue;
        std::memset(piece, i, 64);
        for (int at = 0; at < 64; ++at) ASSERT_EQ(piece[at], i);
        reserve.release(piece);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(reserve.left_bytes(), kBytes);
}

}  // namespace
}  // namespace km
