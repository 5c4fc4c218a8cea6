#include "core/launch/tune_plan.h"

#include <gtest/gtest.h>

#include <functional>

namespace km {
namespace {

constexpr uint64_t kMs = 1000000;

struct Played {
  TunePlan plan;
  std::vector<uint32_t> order;  // after the first launch of each
  uint64_t spent_ns = 0;
};

/// Plays a tuning whose launches take what `time_ns(candidate, launch)` says.
Played play(uint32_t count, uint64_t budget_ns,
            const std::function<uint64_t(uint32_t candidate, uint32_t launch)>& time_ns) {
  Played played{TunePlan(count, budget_ns, 2), {}, 0};
  std::vector<uint32_t> launches(count);
  const auto launch = [&](uint32_t candidate) {
    const uint64_t elapsed_ns = time_ns(candidate, launches[candidate]++);
    played.plan.add(candidate, elapsed_ns, elapsed_ns);
    played.spent_ns += elapsed_ns;
  };
  for (uint32_t i = 0; i < count; ++i) launch(i);
  played.spent_ns = 0;
  for (auto next = played.plan.next(); next; next = played.plan.next()) {
    played.order.push_back(*next);
    launch(*next);
  }
  return played;
}

TEST(TunePlan, CandidatesTakeTurns) {
  const Played played = play(3, 100 * kMs, [](uint32_t, uint32_t) { return kMs; });
  ASSERT_GT(played.order.size(), 30u);
  for (size_t i = 0; i < 30; ++i) EXPECT_EQ(played.order[i], i % 3);
}

TEST(TunePlan, TheLowestMedianIsTheBest) {
  const Played played =
      play(3, 100 * kMs, [](uint32_t candidate, uint32_t) { return (3 - candidate) * kMs; });
  EXPECT_EQ(played.plan.best(), 2u);
}

TEST(TunePlan, NoSingleDisturbedLaunchMisleads) {
  // Candidate 1 is the fastest, and one of its launches takes a hundred times as long.
  for (uint32_t disturbed = 0; disturbed < 10; ++disturbed) {
    const Played played = play(4, 1000 * kMs, [&](uint32_t candidate, uint32_t launch) {
      const uint64_t usual = candidate == 1 ? kMs : 2 * kMs;
      return candidate == 1 && launch == disturbed ? 100 * usual : usual;
    });
    EXPECT_EQ(played.plan.best(), 1u) << disturbed;
    EXPECT_GT(played.plan.summary(1).sample_count, 5u);
    EXPECT_EQ(played.plan.summary(1).median_ns, kMs);
  }
}

TEST(TunePlan, NoStretchOfDisturbanceMisleads) {
  // The machine is ten times slower from launch 20 to launch 60 of all.
  uint32_t number = 0;
  const Played played = play(4, 2000 * kMs, [&](uint32_t candidate, uint32_t) {
    const uint64_t usual = candidate == 2 ? 3 * kMs : 4 * kMs;
    const bool is_disturbed = number >= 20 && number < 60;
    ++number;
    return is_disturbed ? 10 * usual : usual;
  });
  EXPECT_EQ(played.plan.best(), 2u);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_GT(played.plan.summary(i).sample_count, 20u);
}

TEST(TunePlan, TheBudgetIsKept) {
  for (const uint64_t launch_ns : {kMs / 10, kMs, 30 * kMs, 300 * kMs}) {
    const Played played = play(5, 1000 * kMs, [&](uint32_t, uint32_t) { return launch_ns; });
    EXPECT_LE(played.spent_ns, 1000 * kMs) << launch_ns;
    EXPECT_GE(played.spent_ns + launch_ns, std::min(1000 * kMs, 5000 * launch_ns)) << launch_ns;
  }
}

TEST(TunePlan, ALaunchThatIsLongerThanTheBudgetIsMadeOnce) {
  const Played played =
      play(3, 1000 * kMs, [](uint32_t i, uint32_t) { return (i + 2) * 1000 * kMs; });
  EXPECT_TRUE(played.order.empty());
  EXPECT_EQ(played.plan.best(), 0u);
  EXPECT_EQ(played.plan.summary(0).sample_count, 1u);
  EXPECT_EQ(played.plan.summary(0).median_ns, 2000 * kMs);
}

TEST(TunePlan, CheapCandidatesGetSamplesThoughOthersSpentTheBudget) {
  // Two more launches of the slow one spend nearly all.
  const Played played = play(2, 100 * kMs, [](uint32_t candidate, uint32_t) {
    return candidate == 0 ? 48 * kMs : 7 * kMs;
  });
  EXPECT_EQ(played.plan.summary(0).sample_count, 1u);
  EXPECT_GE(played.plan.summary(1).sample_count, 5u);
  EXPECT_EQ(played.plan.best(), 1u);
}

TEST(TunePlan, HopelessCandidatesAreGivenUp) {
  const Played played = play(
      2, 1000 * kMs, [](uint32_t candidate, uint32_t) { return candidate == 0 ? kMs : 5 * kMs; });
  EXPECT_EQ(played.plan.summary(1).sample_count, 1u);
  EXPECT_GT(played.plan.summary(0).sample_count, 500u);
}

TEST(TunePlan, ColdLaunchesDoNotCount) {
  const Played played =
      play(1, 100 * kMs, [](uint32_t, uint32_t launch) { return launch < 2 ? 5 * kMs : kMs; });
  EXPECT_EQ(played.plan.summary(0).median_ns, kMs);
  EXPECT_EQ(played.plan.summary(0).min_ns, kMs);
}

TEST(TunePlan, WhatDoesNotWorkIsNeverChosenNorCompared) {
  TunePlan plan(2, 100 * kMs, 1);
  plan.add(0, 10, 10);
  plan.leave_out(0);
  EXPECT_EQ(plan.best(), std::nullopt);
  EXPECT_EQ(plan.next(), std::nullopt);
  for (int i = 0; i < 4; ++i) plan.add(1, kMs, kMs);
  EXPECT_EQ(plan.next(), 1u);  // a hundred thousand times as slow as what was left out
  EXPECT_EQ(plan.best(), 1u);
}

}  // namespace
}  // namespace km
