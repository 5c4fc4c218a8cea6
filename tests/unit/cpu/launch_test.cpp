// Launches in mode a: every block once, in any number of threads, on the engine's stacks.

#include <unistd.h>

#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "backends/cpu/command/sharing.h"
#include "base/arch/float_control.h"
#include "unit/cpu/support.h"

namespace km::cpu::test {
namespace {

class LaunchTest : public CpuTest {};

struct Counters {
  std::atomic<uint32_t>* counts;
};

KM_TEST_CODE void count_blocks(const simt::LaunchRecord* record, simt::BlockState* state,
                               uint64_t first, uint64_t end) {
  const uint64_t row = state->block[1] + uint64_t{state->block[2]} * record->grid[1];
  auto* counts = argument<Counters>(record).counts + row * record->grid[0];
  for (uint64_t i = first; i < end; ++i) counts[i].fetch_add(1, std::memory_order_relaxed);
}

TEST_P(LaunchTest, EveryBlockRunsOnce) {
  for (uint32_t blocks : {1u, 2u, 7u, 64u, 1000u, 65537u}) {
    TestCode code(count_blocks);
    std::vector<std::atomic<uint32_t>> counts(blocks);
    for (uint32_t turn = 1; turn <= 3; ++turn) {
      launch(stream_, code, {blocks, 1, 1}, {32, 1, 1}, Counters{counts.data()});
      synchronize(stream_);
      for (auto& count : counts) ASSERT_EQ(count.load(), turn);
    }
  }
}

TEST_P(LaunchTest, GridsOfThreeDimensionsAreCountedInFull) {
  TestCode code(count_blocks);
  std::vector<std::atomic<uint32_t>> counts(3 * 5 * 7);
  launch(stream_, code, {3, 5, 7}, {1, 1, 1}, Counters{counts.data()});
  synchronize(stream_);
  for (auto& count : counts) EXPECT_EQ(count.load(), 1u);
}

struct Append {
  std::vector<int>* list;
  int value;
};

KM_TEST_CODE void append(const simt::LaunchRecord* record, simt::BlockState*, uint64_t, uint64_t) {
  auto arguments = argument<Append>(record);
  arguments.list->push_back(arguments.value);
}

TEST_P(LaunchTest, AStreamKeepsItsOrder) {
  TestCode code(append);
  std::vector<int> list;
  for (int i = 0; i < 5000; ++i) {
    launch(stream_, code, {1, 1, 1}, {1, 1, 1}, Append{&list, i});
  }
  synchronize(stream_);
  ASSERT_EQ(list.size(), 5000u);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(list[static_cast<size_t>(i)], i);
}

TEST_P(LaunchTest, ManyHostThreadsSubmitToOneStream) {
  TestCode code(count_blocks);
  constexpr int kThreads = 4, kLaunches = 500;
  std::vector<std::atomic<uint32_t>> counts(3);
  std::vector<std::thread> hosts;
  for (int t = 0; t < kThreads; ++t) {
    hosts.emplace_back([&] {
      for (int i = 0; i < kLaunches; ++i) {
        uint64_t ticket = launch(stream_, code, {3, 1, 1}, {1, 1, 1}, Counters{counts.data()});
        if (i % 16 == 0) stream_->wait(ticket, kForever);
      }
    });
  }
  for (auto& host : hosts) host.join();
  synchronize(stream_);
  for (auto& count : counts) EXPECT_EQ(count.load(), uint32_t{kThreads * kLaunches});
}

struct Large {
  uint8_t bytes[6000];
  uint64_t* sum;
};

KM_TEST_CODE void sum_argument(const simt::LaunchRecord* record, simt::BlockState*, uint64_t,
                               uint64_t) {
  const uint8_t* bytes = record->params;
  uint64_t sum = 0;
  for (size_t i = 0; i < sizeof(Large::bytes); ++i) sum += bytes[i];
  uint64_t* out = nullptr;
  memcpy(&out, record->params + offsetof(Large, sum), sizeof out);
  *out = sum;
}

TEST_P(LaunchTest, ArgumentsAreCopied) {
  TestCode code(sum_argument);
  uint64_t sum = 0;
  Large large;
  memset(large.bytes, 3, sizeof large.bytes);
  large.sum = &sum;
  launch(stream_, code, {1, 1, 1}, {1, 1, 1}, large);
  memset(large.bytes, 9, sizeof large.bytes);
  synchronize(stream_);
  EXPECT_EQ(sum, 3 * sizeof large.bytes);
}

struct Environment {
  arch::FloatControl floats;
  uint64_t stack;
};

KM_TEST_CODE void read_environment(const simt::LaunchRecord* record, simt::BlockState*, uint64_t,
                                   uint64_t) {
  auto* out = argument<Environment*>(record);
  out->floats = arch::float_control();
  out->stack = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  arch::set_float_control(out->floats | arch::kFlushSubnormals);
}

TEST_P(LaunchTest, FloatingPointControlIsTheEnginesInsideAndTheHostsOutside) {
  TestCode code(read_environment);
  const arch::FloatControl before = arch::float_control();
  const arch::FloatControl hosts = before | arch::kFlushSubnormals;
  arch::set_float_control(hosts);
  Environment environment = {};
  launch(stream_, code, {1, 1, 1}, {1, 1, 1}, &environment);
  synchronize(stream_);
  EXPECT_EQ(arch::float_control(), hosts);
  arch::set_float_control(before);
  EXPECT_EQ(environment.floats, arch::kDefaultFloatControl);
  int local = 0;
  uint64_t distance = reinterpret_cast<uint64_t>(&local) - environment.stack;
  EXPECT_GT(distance + (1 << 20), uint64_t{2 << 20}) << "it ran on the host's stack";
}

KM_TEST_CODE void fill_shared(const simt::LaunchRecord* record, simt::BlockState* state, uint64_t,
                              uint64_t) {
  uint64_t size = argument<uint64_t>(record);
  for (uint64_t i = 0; i < size; ++i) state->shared[i] = static_cast<uint8_t>(i);
}

TEST_P(LaunchTest, SharedMemoryIsThereUpToItsSize) {
  TestCode code(fill_shared);
  for (uint64_t size : {uint64_t{4096}, uint64_t{48} << 10, uint64_t{16}, uint64_t{227} << 10}) {
    launch(stream_, code, {64, 1, 1}, {1, 1, 1}, size, size);
    synchronize(stream_);
    ASSERT_FALSE(context_->failed()) << context_->error().message;
  }
}

TEST_P(LaunchTest, SharedMemoryBeyondItsSizeFaults) {
  TestCode code(fill_shared);
  launch(stream_, code, {1, 1, 1}, {1, 1, 1}, uint64_t{4097}, 4096);
  synchronize(stream_);
  EXPECT_EQ(context_->status(), KM_ERROR_ILLEGAL_ADDRESS);
  reset(*context_);
  launch(stream_, code, {1, 1, 1}, {1, 1, 1}, uint64_t{1}, 0);
  synchronize(stream_);
  EXPECT_EQ(context_->status(), KM_ERROR_ILLEGAL_ADDRESS);
}

KM_TEST_CODE void touch_scratch(const simt::LaunchRecord*, simt::BlockState* state, uint64_t,
                                uint64_t) {
  EXPECT_EQ(reinterpret_cast<uint64_t>(state->scratch) % 64, 0u);
  memset(state->scratch, 1, 3 << 20);
}

TEST_P(LaunchTest, ScratchHasTheSizeThatTheCodeAsksFor) {
  TestCode code(touch_scratch);
  code.scratch_bytes = 3 << 20;
  launch(stream_, code, {8, 1, 1}, {1, 1, 1}, 0);
  synchronize(stream_);
  EXPECT_FALSE(context_->failed());
}

struct Busy {
  std::atomic<uint32_t>* threads;  // that ran blocks, told apart by `round`
  uint32_t round;
  uint32_t sleep_us;  // of each block
};

KM_TEST_CODE void run_for(const simt::LaunchRecord* record, simt::BlockState*, uint64_t first,
                          uint64_t end) {
  static thread_local uint32_t last_round = 0;
  const auto arguments = argument<Busy>(record);
  if (std::exchange(last_round, arguments.round) != arguments.round)
    arguments.threads->fetch_add(1);
  for (uint64_t i = first; i < end; ++i) {
    if (arguments.sleep_us != 0) usleep(arguments.sleep_us);
  }
}

// Blocks that were short so far are long now: more threads join than the old time was worth.
TEST(LaunchOnManyThreads, TakesLongerThanExpected) {
  constexpr uint32_t kThreads = 16, kBlocks = 2000;
  ASSERT_TRUE(install_fault_handler());
  Context* const context = Context::make(nullptr, pool_of(kThreads));
  Stream* const stream = Stream::open(context, 0);
  TestCode code(run_for);
  std::atomic<uint32_t> threads{0};
  const auto run = [&](uint32_t round, uint32_t sleep_us, float block_ns) {
    code.block_ns.store(block_ns);
    threads.store(0);
    launch(stream, code, {kBlocks, 1, 1}, {32, 1, 1}, Busy{&threads, round, sleep_us});
    ASSERT_TRUE(stream->wait(stream->submitted(), kForever));
  };
  const Sharing sharing = sharing_of(20, kBlocks, kThreads, false);
  ASSERT_LT(sharing.most, kThreads / 2);
  run(1, 0, 20);  // a loaded machine may make this one longer than expected, too
  run(2, 1000, 20);
  EXPECT_GT(threads.load(), sharing.most);
  stream->close();
  context->release();
}

INSTANTIATE_TEST_SUITE_P(Threads, LaunchTest, ::testing::Values(1u, 2u, 4u));

}  // namespace
}  // namespace km::cpu::test
