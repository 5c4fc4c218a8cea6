// How many threads a launch gets.
#include "backends/cpu/command/sharing.h"

#include <gtest/gtest.h>

namespace km::cpu {
namespace {

TEST(Sharing, UnknownTimesAreSharedByAll) {
  const Sharing sharing = sharing_of(0, 1000, 64, false);
  EXPECT_EQ(sharing.threads, 64u);
  EXPECT_EQ(sharing.most, 64u);
  EXPECT_EQ(sharing.chunk, 1u);
  EXPECT_EQ(sharing.expected_ns, 0);
  EXPECT_EQ(sharing_of(0, 3, 64, false).most, 3u);
}

// 25 us alone: 128 threads that join one after another would take four times as long as one.
TEST(Sharing, ShortLaunchesHaveFewThreads) {
  const Sharing sharing = sharing_of(100, 256, 128, false);
  EXPECT_GE(sharing.most, 4u);
  EXPECT_LE(sharing.most, 6u);
  EXPECT_EQ(sharing.threads, sharing.most);
  EXPECT_GT(sharing.expected_ns, 100.0F * 256 / static_cast<float>(sharing.threads));
}

TEST(Sharing, LongLaunchesHaveAllThreads) {
  const Sharing sharing = sharing_of(10'000, 4096, 128, false);
  EXPECT_EQ(sharing.most, 128u);
  EXPECT_EQ(sharing.chunk, 1u);
  EXPECT_EQ(sharing.expected_ns, 0);  // nobody is left to be asked
}

// Threads only become more as work does, and each number is the best of its neighbours.
TEST(Sharing, MoreWorkNeverHasFewerThreads) {
  const auto time = [](float all, float threads) { return all / threads + threads * kJoinNs; };
  uint32_t before = 1;
  for (float all = 1'000; all < 1e9F; all *= 1.5F) {
    const uint32_t threads = threads_worth(all, 1024);
    EXPECT_GE(threads, before) << all;
    EXPECT_LE(threads, 1024u);
    const auto n = static_cast<float>(threads);
    if (threads > 1 && threads < 1024 && all > 50'000) {
      EXPECT_LE(time(all, n), time(all, n / 2)) << all;
      EXPECT_LE(time(all, n), time(all, 2 * n)) << all;
    }
    before = threads;
  }
}

// Blocks that wait for each other need room for all of them, however short the last launch was.
TEST(Sharing, ByAllIsNotLimited) {
  const Sharing sharing = sharing_of(100, 256, 128, true);
  EXPECT_EQ(sharing.most, 128u);
  EXPECT_LT(sharing.threads, 8u);
  EXPECT_EQ(sharing.expected_ns, 0);
}

// Two threads share what they always have: work of more than 6 us.
TEST(Sharing, TwoThreads) {
  EXPECT_EQ(sharing_of(30, 256, 2, false).threads, 2u);
  EXPECT_EQ(sharing_of(10'000, 2, 2, false).threads, 2u);
  EXPECT_EQ(sharing_of(1, 1000, 2, false).threads, 1u);
}

}  // namespace
}  // namespace km::cpu
