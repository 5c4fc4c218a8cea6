// Workers that sleep until they are called.
#include "backends/cpu/sleepers.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "backends/cpu/futex.h"

namespace km::cpu {
namespace {

TEST(Sleepers, NobodyIsThereToBeCalled) {
  Sleepers sleepers(3);
  EXPECT_FALSE(sleepers.any());
  sleepers.call(2);
  EXPECT_EQ(sleepers.coming(), 0u);
}

TEST(Sleepers, WhoStaysUpIsCalledNoMore) {
  Sleepers sleepers(70);
  sleepers.lie_down(69);
  EXPECT_TRUE(sleepers.any());
  sleepers.sleep(69, true);
  EXPECT_FALSE(sleepers.any());
  sleepers.call(1);
  EXPECT_EQ(sleepers.coming(), 0u);
}

/// One who was called already comes, even if it would have stayed up.
TEST(Sleepers, CalledBeforeItSleeps) {
  Sleepers sleepers(1);
  sleepers.lie_down(0);
  sleepers.call(5);
  EXPECT_EQ(sleepers.coming(), 1u);
  EXPECT_FALSE(sleepers.any());
  sleepers.sleep(0, true);
  EXPECT_EQ(sleepers.coming(), 0u);
  sleepers.lie_down(0);
  sleepers.call(1);
  sleepers.sleep(0, false);
  EXPECT_EQ(sleepers.coming(), 0u);
}

TEST(Sleepers, AsManyAsAreCalled) {
  Sleepers sleepers(70);
  for (uint32_t worker : {1u, 64u, 65u}) sleepers.lie_down(worker);
  sleepers.call(2);
  EXPECT_EQ(sleepers.coming(), 2u);
  EXPECT_TRUE(sleepers.any());
  sleepers.call(2);
  EXPECT_EQ(sleepers.coming(), 3u);
  EXPECT_FALSE(sleepers.any());
  for (uint32_t worker : {1u, 64u, 65u}) sleepers.sleep(worker, false);
  EXPECT_EQ(sleepers.coming(), 0u);
}

/// No call is lost: each piece of work finds a worker.
TEST(Sleepers, WorkIsFoundByWhoSleeps) {
  constexpr uint32_t kWorkers = 3, kPieces = 20000;
  Sleepers sleepers(kWorkers);
  std::atomic<uint32_t> offered{0}, done{0};
  std::atomic<bool> over{false};
  const auto take = [&] {
    uint32_t there = offered.load();
    while (there != 0 && !offered.compare_exchange_weak(there, there - 1)) {
    }
    return there != 0;
  };
  std::vector<std::jthread> workers;
  for (uint32_t worker = 0; worker < kWorkers; ++worker) {
    workers.emplace_back([&, worker] {
      while (!over.load()) {
        if (take()) {
          done.fetch_add(1);
          continue;
        }
        sleepers.lie_down(worker);
        sleepers.sleep(worker, offered.load() != 0 || over.load());
      }
    });
  }
  for (uint32_t piece = 0; piece < kPieces; ++piece) {
    offered.fetch_add(1);
    sleepers.call(1);
    while (done.load() != piece + 1) pause();
  }
  over.store(true);
  sleepers.call(kWorkers);
  workers.clear();
  EXPECT_EQ(done.load(), kPieces);
}

}  // namespace
}  // namespace km::cpu
