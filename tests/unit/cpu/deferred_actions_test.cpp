#include "backends/cpu/stream/deferred_actions.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace km::cpu {
namespace {

TEST(DeferredActions, RunOnceWhenTheirTicketIsComplete) {
  DeferredActions actions;
  EXPECT_FALSE(actions.is_due(UINT64_MAX - 1));
  std::vector<int> ran;
  actions.add(5, [&] { ran.push_back(5); });
  actions.add(3, [&] { ran.push_back(3); });
  actions.add(9, [&] { ran.push_back(9); });
  EXPECT_FALSE(actions.is_due(2));
  EXPECT_TRUE(actions.is_due(3));
  actions.run(5);
  EXPECT_EQ(ran, (std::vector<int>{5, 3}));
  EXPECT_FALSE(actions.is_due(8));
  EXPECT_TRUE(actions.is_due(9));
  actions.run(5);
  EXPECT_EQ(ran.size(), 2u);
  actions.run(100);
  EXPECT_EQ(ran, (std::vector<int>{5, 3, 9}));
}

TEST(DeferredActions, AnActionMayAddAnother) {
  DeferredActions actions;
  int ran = 0;
  actions.add(1, [&] { actions.add(2, [&] { ++ran; }); });
  actions.run(1);
  EXPECT_EQ(ran, 0);
  ASSERT_TRUE(actions.is_due(2));
  actions.run(2);
  EXPECT_EQ(ran, 1);
}

/// One thread completes tickets while others add actions, some of which come too late for it.
TEST(DeferredActions, NoneIsLostBetweenThreads) {
  constexpr uint64_t kTickets = 2000;
  constexpr unsigned kAdders = 3;
  DeferredActions actions;
  std::atomic<uint64_t> completed{0}, ran{0};
  std::vector<std::thread> adders;
  for (unsigned i = 0; i < kAdders; ++i) {
    adders.emplace_back([&] {
      for (uint64_t ticket = 1; ticket <= kTickets; ++ticket) {
        actions.add(ticket, [&] { ran.fetch_add(1); });
        if (completed.load() >= ticket) actions.run(ticket);
      }
    });
  }
  for (uint64_t ticket = 1; ticket <= kTickets; ++ticket) {
    completed.store(ticket);
    if (actions.is_due(ticket)) actions.run(ticket);
  }
  for (std::thread& adder : adders) adder.join();
  EXPECT_EQ(ran.load(), kTickets * kAdders);
}

}  // namespace
}  // namespace km::cpu
