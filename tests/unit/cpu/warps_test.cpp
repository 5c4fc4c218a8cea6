// Mode b: warps that are suspended at barriers.
#include <vector>

#include "unit/cpu/support.h"

namespace km::cpu::test {
namespace {

class WarpsTest : public CpuTest {};

struct Exchange {
  uint32_t* out;  // one per warp of the grid
  uint32_t rounds;
};

/// Each round every warp writes, waits, and reads what its neighbour wrote.
KM_TEST_CODE void exchange(const simt::LaunchRecord* record, simt::BlockState* state,
                           uint32_t warp) {
  auto arguments = argument<Exchange>(record);
  auto* shared = reinterpret_cast<uint32_t*>(state->shared);
  uint32_t sum = 0;
  for (uint32_t round = 0; round < arguments.rounds; ++round) {
    shared[warp] = round * 100 + warp;
    record->runtime->barrier_wait(record, state, 0, 0, 32);
    sum += shared[(warp + 1) % state->warp_count];
    record->runtime->barrier_wait(record, state, 0, 0, 32);
  }
  arguments.out[state->block[0] * state->warp_count + warp] = sum;
}

TEST_P(WarpsTest, BarriersOrderTheWarpsOfABlock) {
  TestCode code(exchange);
  for (uint32_t warps : {1u, 2u, 5u, 32u}) {
    constexpr uint32_t kBlocks = 40, kRounds = 9;
    std::vector<uint32_t> out(kBlocks * warps);
    launch(stream_, code, {kBlocks, 1, 1}, {warps * 32, 1, 1}, Exchange{out.data(), kRounds}, 4096);
    synchronize(stream_);
    ASSERT_FALSE(context_->failed()) << context_->error().message;
    for (uint32_t i = 0; i < out.size(); ++i) {
      uint32_t expected = kRounds * (kRounds - 1) / 2 * 100 + kRounds * ((i % warps + 1) % warps);
      ASSERT_EQ(out[i], expected) << "warp " << i << " of blocks of " << warps;
    }
  }
}

KM_TEST_CODE void note_alignment(const simt::LaunchRecord* record, simt::BlockState*,
                                 uint32_t warp) {
  auto* out = argument<uint64_t*>(record);
  out[warp] = reinterpret_cast<uint64_t>(__builtin_frame_address(0)) % 16;
}

TEST_P(WarpsTest, StacksAreAlignedAsTheCallingConventionSays) {
  TestCode code(note_alignment);
  std::vector<uint64_t> out(4, 99);
  launch(stream_, code, {1, 1, 1}, {4 * 32, 1, 1}, out.data());
  synchronize(stream_);
  EXPECT_THAT(out, ::testing::Each(0u));  // behind the return address and the saved rbp
}

/// Uses its whole stack, at whose end the runtime's helpers need their own.
KM_TEST_CODE void use_stack(const simt::LaunchRecord* record, simt::BlockState* state, uint32_t) {
  const auto bytes = argument<uint64_t>(record);
  auto* const low = static_cast<volatile uint8_t*>(__builtin_alloca(bytes));
  for (uint64_t at = bytes; at >= 4096; at -= 4096) low[at - 1] = 1;
  record->runtime->barrier_wait(record, state, 0, 0, 32);
}

TEST_P(WarpsTest, ALaterKernelsStacksHaveTheirMargin) {
  TestCode code(use_stack);
  for (const uint64_t used : {uint64_t{8} << 10, uint64_t{120} << 10, uint64_t{250} << 10}) {
    code.stack_bytes = used + (4 << 10);
    launch(stream_, code, {4, 1, 1}, {32 * 32, 1, 1}, used);
    synchronize(stream_);
    ASSERT_FALSE(context_->failed()) << used << ": " << context_->error().message;
  }
}

/// Warp w leaves after w rounds; those that are left go on.
KM_TEST_CODE void leave_early(const simt::LaunchRecord* record, simt::BlockState* state,
                              uint32_t warp) {
  auto* out = argument<uint32_t*>(record);
  for (uint32_t round = 0; round < warp; ++round) {
    record->runtime->barrier_wait(record, state, 0, 0, 32);
  }
  out[warp] = warp + 1;
}

TEST_P(WarpsTest, WarpsThatHaveEndedCountAsArrived) {
  TestCode code(leave_early);
  std::vector<uint32_t> out(16);
  launch(stream_, code, {1, 1, 1}, {16 * 32, 1, 1}, out.data());
  synchronize(stream_);
  ASSERT_FALSE(context_->failed()) << context_->error().message;
  for (uint32_t i = 0; i < 16; ++i) EXPECT_EQ(out[i], i + 1);
}

/// Even warps produce and go on, odd ones consume: bar.arrive and bar.sync on two barriers.
KM_TEST_CODE void produce_consume(const simt::LaunchRecord* record, simt::BlockState* state,
                                  uint32_t warp) {
  auto* out = argument<uint32_t*>(record);
  auto* shared = reinterpret_cast<uint32_t*>(state->shared);
  uint32_t threads = state->warp_count * 32;
  for (uint32_t round = 0; round < 5; ++round) {
    if (warp % 2 == 0) {
      shared[warp] = round + 10;
      record->runtime->barrier_arrive(record, state, 1, threads, 32);
      record->runtime->barrier_wait(record, state, 2, threads, 32);
    } else {
      record->runtime->barrier_wait(record, state, 1, threads, 32);
      out[warp] += shared[warp - 1];
      record->runtime->barrier_arrive(record, state, 2, threads, 32);
    }
  }
}

TEST_P(WarpsTest, ArrivingDoesNotWait) {
  TestCode code(produce_consume);
  std::vector<uint32_t> out(8);
  launch(stream_, code, {1, 1, 1}, {8 * 32, 1, 1}, out.data(), 1024);
  synchronize(stream_);
  ASSERT_FALSE(context_->failed()) << context_->error().message;
  for (uint32_t i = 1; i < 8; i += 2) EXPECT_EQ(out[i], 10u + 11 + 12 + 13 + 14);
}

/// Two halves of the block meet at barriers of their own.
KM_TEST_CODE void two_halves(const simt::LaunchRecord* record, simt::BlockState* state,
                             uint32_t warp) {
  auto* out = argument<uint32_t*>(record);
  uint32_t half = warp / 4;
  uint32_t sum = record->runtime->barrier_reduce(record, state, 3 + half, 4 * 32, 32, warp);
  out[warp] = sum;
}

TEST_P(WarpsTest, PartialBarriersCountAndReduce) {
  TestCode code(two_halves);
  std::vector<uint32_t> out(8);
  launch(stream_, code, {1, 1, 1}, {8 * 32, 1, 1}, out.data());
  synchronize(stream_);
  ASSERT_FALSE(context_->failed()) << context_->error().message;
  EXPECT_THAT(out, ::testing::ElementsAre(6, 6, 6, 6, 22, 22, 22, 22));
}

/// The second warp spins until the first has been let on by a yield.
KM_TEST_CODE void ping_pong(const simt::LaunchRecord* record, simt::BlockState* state,
                            uint32_t warp) {
  auto* turn = reinterpret_cast<volatile uint32_t*>(state->shared);
  auto* out = argument<uint32_t*>(record);
  if (warp == 0) *turn = 1;
  for (uint32_t i = 0; i < 10; ++i) {
    while (*turn != 2 * i + 1 + warp) record->runtime->yield(record, state);
    *turn = *turn + 1;
  }
  out[warp] = *turn;
}

TEST_P(WarpsTest, YieldLetsTheOthersOn) {
  TestCode code(ping_pong);
  std::vector<uint32_t> out(2);
  launch(stream_, code, {1, 1, 1}, {64, 1, 1}, out.data(), 64);
  synchronize(stream_);
  ASSERT_FALSE(context_->failed()) << context_->error().message;
  EXPECT_EQ(out[1], 21u);
}

KM_TEST_CODE void one_waits_for_ever(const simt::LaunchRecord* record, simt::BlockState* state,
                                     uint32_t warp) {
  if (warp == 0) record->runtime->barrier_wait(record, state, 1, 4 * 32, 32);
}

KM_TEST_CODE void different_barriers(const simt::LaunchRecord* record, simt::BlockState* state,
                                     uint32_t warp) {
  record->runtime->barrier_wait(record, state, warp, 0, 32);
}

TEST_P(WarpsTest, DeadlocksAreErrors) {
  for (auto entry : {one_waits_for_ever, different_barriers}) {
    TestCode code(entry);
    launch(stream_, code, {20, 1, 1}, {64, 1, 1}, 0);
    synchronize(stream_);
    EXPECT_EQ(context_->status(), KM_ERROR_LAUNCH_FAILED);
    EXPECT_THAT(context_->error().message, ::testing::HasSubstr("deadlock"));
    reset(*context_);
  }
}

KM_TEST_CODE volatile uint32_t* bad_address(const simt::LaunchRecord* record) {
  return reinterpret_cast<volatile uint32_t*>(argument<uint64_t>(record));
}

KM_TEST_CODE void fault_between(const simt::LaunchRecord* record, simt::BlockState* state,
                                uint32_t warp) {
  record->runtime->barrier_wait(record, state, 0, 0, 32);
  if (warp == 2) *bad_address(record) = 1;
  record->runtime->barrier_wait(record, state, 0, 0, 32);
}

TEST_P(WarpsTest, AFaultLeavesTheStacksUsable) {
  TestCode bad(fault_between), good(exchange);
  std::vector<uint32_t> out(4 * 8);
  for (int turn = 0; turn < 20; ++turn) {
    launch(stream_, bad, {8, 1, 1}, {4 * 32, 1, 1}, uint64_t{64});
    synchronize(stream_);
    ASSERT_EQ(context_->status(), KM_ERROR_ILLEGAL_ADDRESS);
    EXPECT_THAT(context_->error().message, ::testing::HasSubstr("(64,0,0) to (95,0,0)"));
    reset(*context_);
    launch(stream_, good, {8, 1, 1}, {4 * 32, 1, 1}, Exchange{out.data(), 3}, 4096);
    synchronize(stream_);
    ASSERT_FALSE(context_->failed()) << context_->error().message;
  }
}

KM_TEST_CODE uint32_t recurse(uint32_t depth) {
  volatile uint8_t frame[512];
  frame[0] = 1;
  return depth == 0 ? 0 : recurse(depth - 1) + frame[0];
}

KM_TEST_CODE void overflow(const simt::LaunchRecord*, simt::BlockState*, uint32_t) {
  recurse(UINT32_MAX);
}

TEST_P(WarpsTest, AWarpThatOverflowsItsStackIsNamed) {
  TestCode code(overflow);
  launch(stream_, code, {1, 1, 1}, {64, 1, 1}, 0);
  synchronize(stream_);
  EXPECT_EQ(context_->status(), KM_ERROR_STACK_OVERFLOW);
}

INSTANTIATE_TEST_SUITE_P(Threads, WarpsTest, ::testing::Values(1u, 3u));

}  // namespace
}  // namespace km::cpu::test
