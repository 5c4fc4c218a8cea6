// Workers that sleep until they are called, and the counts of a pool's threads.
#include "backends/cpu/threads/idle_workers.h"
#include "base/arch/processor.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "backends/cpu/threads/futex.h"
#include "backends/cpu/threads/worker_census.h"

namespace km::cpu {
namespace {

TEST(IdleWorkers, NobodyIsThereToBeCalled) {
  IdleWorkers idle(3);
  EXPECT_FALSE(idle.any());
  idle.wake(2);
  EXPECT_EQ(idle.coming(), 0u);
}

TEST(IdleWorkers, WhoStaysUpIsCalledNoMore) {
  IdleWorkers idle(70);
  idle.park(69);
  EXPECT_TRUE(idle.any());
  idle.sleep(69, true);
  EXPECT_FALSE(idle.any());
  idle.wake(1);
  EXPECT_EQ(idle.coming(), 0u);
}

/// One who was called already comes, even if it would have stayed up.
TEST(IdleWorkers, CalledBeforeItSleeps) {
  IdleWorkers idle(1);
  idle.park(0);
  idle.wake(5);
  EXPECT_EQ(idle.coming(), 1u);
  EXPECT_FALSE(idle.any());
  idle.sleep(0, true);
  EXPECT_EQ(idle.coming(), 0u);
  idle.park(0);
  idle.wake(1);
  idle.sleep(0, false);
  EXPECT_EQ(idle.coming(), 0u);
}

TEST(IdleWorkers, AsManyAsAreCalled) {
  IdleWorkers idle(70);
  for (uint32_t worker : {1u, 64u, 65u}) idle.park(worker);
  idle.wake(2);
  EXPECT_EQ(idle.coming(), 2u);
  EXPECT_TRUE(idle.any());
  idle.wake(2);
  EXPECT_EQ(idle.coming(), 3u);
  EXPECT_FALSE(idle.any());
  for (uint32_t worker : {1u, 64u, 65u}) idle.sleep(worker, false);
  EXPECT_EQ(idle.coming(), 0u);
}

/// No call is lost: each piece of work finds a worker.
TEST(IdleWorkers, WorkIsFoundByWhoSleeps) {
  constexpr uint32_t kWorkers = 3, kPieces = 20000;
  IdleWorkers idle(kWorkers);
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
        idle.park(worker);
        idle.sleep(worker, offered.load() != 0 || over.load());
      }
    });
  }
  for (uint32_t piece = 0; piece < kPieces; ++piece) {
    offered.fetch_add(1);
    idle.wake(1);
    while (done.load() != piece + 1) arch::spin_hint();
  }
  over.store(true);
  idle.wake(kWorkers);
  workers.clear();
  EXPECT_EQ(done.load(), kPieces);
}

TEST(WorkerCensus, ChangesBelongTogether) {
  WorkerCensus census;
  census.change({.between = 1, .awake = 1});
  census.change({.spinners = 1, .between = -1});
  EXPECT_EQ(census.spinners(), 1u);
  EXPECT_EQ(census.looking(), 1u);
  EXPECT_EQ(census.awake(), 1u);
  census.change({.spinners = -1, .awake = -1});
  EXPECT_EQ(census.spinners(), 0u);
  EXPECT_EQ(census.looking(), 0u);
  EXPECT_EQ(census.awake(), 0u);
  EXPECT_EQ(census.awake_lately(), 0u);
}

TEST(WorkerCensus, RetiresOnlyThoseBeyond) {
  WorkerCensus census;
  census.change({.spinners = 2, .awake = 3});
  EXPECT_TRUE(census.retire_above(2));
  EXPECT_FALSE(census.retire_above(2));
  EXPECT_EQ(census.awake(), 2u);
  EXPECT_EQ(census.spinners(), 2u);
}

TEST(WorkerCensus, ManyThreads) {
  constexpr int kThreads = 4, kRounds = 20'000;
  WorkerCensus census;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&census] {
        for (int round = 0; round < kRounds; ++round) {
          census.change({.between = 1, .awake = 1});
          census.change({.spinners = 1, .between = -1});
          census.change({.spinners = -1, .between = 1});
          if (round % 2 == 0) census.change({.between = -1, .awake = -1});
        }
      });
    }
  }
  EXPECT_EQ(census.spinners(), 0u);
  EXPECT_EQ(census.looking(), kThreads * kRounds / 2);
  EXPECT_EQ(census.awake(), kThreads * kRounds / 2);
}

}  // namespace
}  // namespace km::cpu
