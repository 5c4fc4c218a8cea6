// Faults of generated code: reported, contained, and told from everybody else's.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <thread>
#include <vector>

#include "backends/cpu/fault/guarded_memory.h"
#include "base/arch/constants.h"
#include "unit/cpu/support.h"

static std::atomic<bool> g_refuses_threads{false};

/// Takes the place of the C library's, so that tests can run out of threads.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) noexcept {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return g_refuses_threads ? EAGAIN : real(thread, attributes, body, argument);
}

namespace km::cpu::test {
namespace {

using ::testing::HasSubstr;

// A copy of host memory before the first context puts the handlers in place.
TEST(FaultHandler, IsInstalledAfterItCameToTheFront) {
  put_handler_in_front(Look::all);
  EXPECT_TRUE(install_fault_handler());
}

class FaultTest : public CpuTest {};

struct Store {
  uint64_t address;
  uint64_t block;  // the block that stores; the others do nothing
};

KM_TEST_CODE void store(const simt::LaunchRecord* record, simt::BlockState* state, uint64_t first,
                        uint64_t end) {
  auto arguments = argument<Store>(record);
  for (uint64_t i = first; i < end; ++i) {
    state->block[0] = static_cast<uint32_t>(i);
    state->first_thread = 32;
    if (i == arguments.block) *reinterpret_cast<volatile uint32_t*>(arguments.address) = 1;
  }
}

TEST_P(FaultTest, TheMessageSaysEverything) {
  TestCode code(store, "saxpy");
  GuardedRange range = GuardedRange::make(4096);
  uint64_t start = range.end() - 1024;
  context_->allocations().add(start, 1024);
  launch(stream_, code, {100, 1, 1}, {64, 1, 1}, Store{range.end() + 4, 17});
  synchronize(stream_);
  Error error = context_->error();
  EXPECT_EQ(error.status, KM_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(error.message, HasSubstr("kernel 'saxpy', block (17,0,0)"));
  EXPECT_THAT(error.message, HasSubstr("among threads (32,0,0) to (63,0,0)"));
  EXPECT_THAT(error.message, HasSubstr("test.ptx:7"));
  EXPECT_THAT(error.message, HasSubstr("4 bytes past the end of the 1024-byte allocation at 0x"));
}

TEST_P(FaultTest, TheContextStaysFailedAndOthersGoOn) {
  TestCode code(store);
  Context* other = Context::make(nullptr, pool_of(threads()));
  Stream* others = Stream::open(other, 0);
  launch(stream_, code, {1, 1, 1}, {1, 1, 1}, Store{16, 0});
  uint32_t value = 0;
  launch(stream_, code, {1, 1, 1}, {1, 1, 1}, Store{reinterpret_cast<uint64_t>(&value), 0});
  uint32_t other_value = 0;
  launch(others, code, {1, 1, 1}, {1, 1, 1}, Store{reinterpret_cast<uint64_t>(&other_value), 0});
  synchronize(stream_);
  synchronize(others);
  EXPECT_EQ(context_->status(), KM_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(value, 0u);
  EXPECT_FALSE(other->failed());
  EXPECT_EQ(other_value, 1u);
  reset(*context_);
  EXPECT_FALSE(context_->failed());
  launch(stream_, code, {1, 1, 1}, {1, 1, 1}, Store{reinterpret_cast<uint64_t>(&value), 0});
  synchronize(stream_);
  EXPECT_EQ(value, 1u);
  others->close();
  other->release();
}

TEST_P(FaultTest, AnErrorThatAResetHasClearedIsNoSuccess) {
  context_->fail(make_error(KM_ERROR_TRAP, "trap"), nullptr);
  EXPECT_EQ(context_->failure().status, KM_ERROR_TRAP);
  reset(*context_);  // between a call's look at failed() and its look at the error
  EXPECT_EQ(context_->failure().status, KM_ERROR_CONTEXT_LOST);
  EXPECT_TRUE(context_->check());
}

KM_TEST_CODE void spin_or_fault(const simt::LaunchRecord* record, simt::BlockState*, uint64_t first,
                                uint64_t) {
  auto arguments = argument<Store>(record);
  if (first >= arguments.block) *reinterpret_cast<volatile uint32_t*>(arguments.address) = 1;
  for (;;) asm volatile("");
}

TEST_P(FaultTest, AFaultStopsTheBlocksThatRunForEver) {
  if (threads() < 2) GTEST_SKIP() << "one thread never gets to the block that faults";
  TestCode code(spin_or_fault);
  for (int turn = 0; turn < 10; ++turn) {
    launch(stream_, code, {64, 1, 1}, {1, 1, 1}, Store{8, 1});
    synchronize(stream_);
    ASSERT_EQ(context_->status(), KM_ERROR_ILLEGAL_ADDRESS);
    reset(*context_);
  }
}

TEST_P(FaultTest, ResetStopsEndlessKernelsAndDropsWhatIsQueued) {
  TestCode endless(spin_or_fault), quick(store);
  uint32_t value = 0;
  launch(stream_, endless, {4, 1, 1}, {1, 1, 1}, Store{0, UINT64_MAX});
  launch(stream_, quick, {1, 1, 1}, {1, 1, 1}, Store{reinterpret_cast<uint64_t>(&value), 0});
  EXPECT_FALSE(stream_->wait(stream_->submitted(), 20000000));
  reset(*context_);
  EXPECT_TRUE(stream_->is_complete(stream_->submitted()));
  EXPECT_FALSE(context_->failed());
  EXPECT_EQ(value, 0u);
}

TEST_P(FaultTest, ResetStopsAKernelThatAWaitingThreadRuns) {
  TestCode endless(spin_or_fault);
  launch(stream_, endless, {1, 1, 1}, {1, 1, 1}, Store{0, UINT64_MAX});
  std::thread waiter([&] { stream_->wait(stream_->submitted(), kForever); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  reset(*context_);
  waiter.join();
  EXPECT_TRUE(stream_->is_complete(stream_->submitted()));
}

KM_TEST_CODE void raise_kind(const simt::LaunchRecord* record, simt::BlockState* state, uint64_t,
                             uint64_t) {
  auto kind = argument<simt::FaultKind>(record);
  if (kind == simt::FaultKind::assertion) {
    record->runtime->assert_fail(record, state, "x > 0", "scale.cu", 12, "scale", 5);
  }
  record->runtime->raise(state, kind, 0x1003, 4, 5, 0);
}

TEST_P(FaultTest, GeneratedCodeReportsWhatItFindsItself) {
  TestCode code(raise_kind);
  struct Case {
    simt::FaultKind kind;
    km_status status;
    const char* text;
  };
  for (Case c : {Case{simt::FaultKind::trap, KM_ERROR_TRAP, "trap"},
                 Case{simt::FaultKind::misaligned, KM_ERROR_MISALIGNED_ADDRESS, "0x1003"},
                 Case{simt::FaultKind::illegal_address, KM_ERROR_ILLEGAL_ADDRESS, "(4 bytes)"},
                 Case{simt::FaultKind::assertion, KM_ERROR_ASSERT,
                      "assertion `x > 0' failed at scale.cu:12 in scale"}}) {
    launch(stream_, code, {1, 1, 1}, {4, 2, 1}, c.kind);
    synchronize(stream_);
    Error error = context_->error();
    EXPECT_EQ(error.status, c.status);
    EXPECT_THAT(error.message, HasSubstr(c.text));
    EXPECT_THAT(error.message, HasSubstr("thread (1,1,0)"));
    reset(*context_);
  }
}

KM_TEST_CODE void bad_assertion(const simt::LaunchRecord* record, simt::BlockState* state, uint64_t,
                                uint64_t) {
  auto bad = reinterpret_cast<const char*>(uint64_t{24});
  record->runtime->assert_fail(record, state, bad, bad, 1, bad, 0);
}

KM_TEST_CODE void failed_assertion(const simt::LaunchRecord* record, simt::BlockState* state,
                                   uint64_t, uint64_t) {
  record->runtime->assert_fail(record, state, "holds", "test.cu", 1, "kernel", 0);
}

/// The thread that limits a failed launch cannot be started, so the kernel's own thread does it.
TEST_P(FaultTest, AnAssertionWithoutAThreadToWatchItEnds) {
  TestCode code(failed_assertion);
  launch(stream_, code, {1, 1, 1}, {1, 1, 1}, 0);
  g_refuses_threads = true;
  synchronize(stream_);
  g_refuses_threads = false;
  EXPECT_EQ(context_->status(), KM_ERROR_ASSERT) << context_->error().message;
}

TEST_P(FaultTest, AssertionTextsThatCannotBeReadAreSurvived) {
  TestCode code(bad_assertion);
  launch(stream_, code, {1, 1, 1}, {1, 1, 1}, 0);
  synchronize(stream_);
  EXPECT_EQ(context_->status(), KM_ERROR_ASSERT);
  EXPECT_THAT(context_->error().message, HasSubstr("(unreadable)"));
}

KM_TEST_CODE void bad_instruction(const simt::LaunchRecord*, simt::BlockState*, uint64_t,
                                  uint64_t) {
  __builtin_trap();
}

KM_TEST_CODE void bad_division(const simt::LaunchRecord* record, simt::BlockState*, uint64_t,
                               uint64_t) {
  const volatile uint32_t one = 1, zero = argument<uint32_t>(record);
  [[maybe_unused]] const volatile uint32_t quotient = one / zero;
}

KM_TEST_CODE void wild_address(const simt::LaunchRecord*, simt::BlockState*, uint64_t, uint64_t) {
  uint64_t address = 0x8000000000000000;
  *reinterpret_cast<volatile uint32_t*>(address) = 1;
}

TEST_P(FaultTest, EverySignalHasAStatus) {
  struct Case {
    simt::GridEntry entry;
    km_status status;
  };
  for (Case c : {Case{bad_instruction, KM_ERROR_ILLEGAL_INSTRUCTION},
                 Case{bad_division, arch::kDivisionFaults ? KM_ERROR_LAUNCH_FAILED : KM_SUCCESS},
                 Case{wild_address, KM_ERROR_ILLEGAL_ADDRESS}}) {
    TestCode code(c.entry);
    launch(stream_, code, {1, 1, 1}, {1, 1, 1}, 0u);
    synchronize(stream_);
    EXPECT_EQ(context_->status(), c.status);
    reset(*context_);
  }
}

// Another signal than that of __builtin_trap() may come of it.
TEST_P(FaultTest, JumpsIntoTheGapsBetweenFunctionsAreIllegalInstructions) {
  constexpr size_t kBytes = arch::kMostPageBytes;
  void* const gap =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(gap, MAP_FAILED);
  memset(gap, arch::kTrapByte, kBytes);
  ASSERT_EQ(mprotect(gap, kBytes, PROT_READ | PROT_EXEC), 0);
  TestCode code(reinterpret_cast<simt::GridEntry>(gap));
  code.begin = reinterpret_cast<uint64_t>(gap);
  code.end = code.begin + kBytes;
  launch(stream_, code, {1, 1, 1}, {1, 1, 1}, 0u);
  synchronize(stream_);
  EXPECT_EQ(context_->status(), KM_ERROR_ILLEGAL_INSTRUCTION) << context_->error().message;
  munmap(gap, kBytes);
}

TEST(GuardedMemory, CopiesOfEverySizeAndOffsetAreRight) {
  ASSERT_TRUE(install_fault_handler());
  std::vector<uint8_t> source(9000), destination(9000), expected(9000);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(i * 7 + i / 256);
  for (size_t size : {0ul, 1ul, 31ul, 32ul, 33ul, 127ul, 128ul, 129ul, 1000ul, 4096ul, 8000ul}) {
    for (size_t offset : {0ul, 1ul, 15ul, 32ul, 63ul}) {
      for (bool streaming : {false, true}) {
        std::fill(destination.begin(), destination.end(), 0xee);
        expected = destination;
        memcpy(expected.data() + offset, source.data() + 5, size);
        ASSERT_TRUE(
            guarded_copy(destination.data() + offset, source.data() + 5, size, streaming, nullptr));
        ASSERT_EQ(destination, expected) << size << " bytes to offset " << offset;
      }
    }
  }
}

TEST(GuardedMemory, OverlappingCopiesMove) {
  for (ptrdiff_t shift : {-200, -128, -31, -1, 1, 16, 33, 500}) {
    std::vector<uint8_t> data(4000), expected;
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i ^ (i >> 8));
    expected = data;
    memmove(expected.data() + 1000 + shift, expected.data() + 1000, 2000);
    ASSERT_TRUE(guarded_copy(data.data() + 1000 + shift, data.data() + 1000, 2000, true, nullptr));
    ASSERT_EQ(data, expected) << "shifted by " << shift;
  }
}

void check_fill(uint32_t width, size_t count, size_t offset, bool streaming) {
  uint32_t value = 0x12345678;
  std::vector<uint8_t> data(24000, 0xee), expected(24000, 0xee);
  for (size_t i = 0; i < count; ++i) memcpy(expected.data() + offset + i * width, &value, width);
  ASSERT_TRUE(guarded_fill(data.data() + offset, value, width, count, streaming, nullptr));
  ASSERT_EQ(data, expected) << width << " bytes, " << count << " times at " << offset;
}

TEST(GuardedMemory, FillsRepeatEveryValueSize) {
  for (uint32_t width : {1u, 2u, 4u}) {
    for (size_t count : {1ul, 7ul, 16ul, 33ul, 1000ul, 5000ul}) {
      for (size_t offset : {0ul, 4ul, 12ul, 28ul}) {
        check_fill(width, count, offset, false);
        check_fill(width, count, offset, true);
      }
    }
  }
}

TEST(GuardedMemory, WhatIsNotThereIsReported) {
  ASSERT_TRUE(install_fault_handler());
  GuardedRange range = GuardedRange::make(8192);
  std::vector<uint8_t> local(16384);
  Fault fault;
  EXPECT_FALSE(guarded_copy(local.data(), range.data(), 8193, false, &fault));
  EXPECT_GE(fault.address, range.end());
  EXPECT_LT(fault.address, range.end() + 128);
  EXPECT_FALSE(guarded_copy(range.data(), local.data(), 16384, true, &fault));
  EXPECT_FALSE(guarded_fill(range.data() - 64, 1, 1, 100, false, &fault));
  EXPECT_EQ(fault.address, range.begin() - 64);
  uint64_t length = 0;
  memset(range.data(), 'x', 8192);
  EXPECT_FALSE(guarded_length(reinterpret_cast<char*>(range.data()), 100000, &length));
  EXPECT_TRUE(guarded_length(reinterpret_cast<char*>(range.data()), 8192, &length));
  EXPECT_EQ(length, 8192u);
}

INSTANTIATE_TEST_SUITE_P(Threads, FaultTest, ::testing::Values(1u, 2u, 4u));

}  // namespace
}  // namespace km::cpu::test
