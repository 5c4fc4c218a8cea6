#include "simt/object/isolated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/Support/ErrorHandling.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "base/arch/float_control.h"

namespace km::simt {
namespace {

using ::testing::HasSubstr;

TEST(Isolated, GivesTheValueBack) {
  const Result<std::string> text = run_isolated([]() -> Result<std::string> { return {"value"}; });
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "value");
}

TEST(Isolated, GivesTheErrorBack) {
  const Status status =
      run_isolated([]() -> Status { return make_error(KM_ERROR_INVALID_PTX, "text"); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().status, KM_ERROR_INVALID_PTX);
  EXPECT_EQ(status.error().message, "text");
}

TEST(Isolated, RunsElsewhereAndNestedCallsStay) {
  const auto here = std::this_thread::get_id();
  const auto result = run_isolated([&]() -> Result<bool> {
    const auto outer = std::this_thread::get_id();
    return run_isolated(
        [&]() -> Result<bool> { return outer != here && std::this_thread::get_id() == outer; });
  });
  ASSERT_TRUE(result);
  EXPECT_TRUE(*result);
}

[[gnu::noinline]] int use_stack(int depth) {
  volatile char page[65536];
  page[0] = static_cast<char>(depth);
  return depth == 0 ? 0 : use_stack(depth - 1) + (page[0] != 0 ? 1 : 0);
}

TEST(Isolated, HasABigStack) {
  const Result<int> depth = run_isolated([]() -> Result<int> { return use_stack(700) + 1; });
  ASSERT_TRUE(depth);
  EXPECT_GT(*depth, 600);
}

TEST(Isolated, SurvivesFatalErrorsOfLlvm) {
  for (int i = 0; i < 20; ++i) {
    const Status status = run_isolated(
        []() -> Status { llvm::report_fatal_error("the sky falls", /*gen_crash_diag=*/false); });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().status, KM_ERROR_COMPILER);
    EXPECT_THAT(status.error().message, HasSubstr("the sky falls"));
    EXPECT_TRUE(run_isolated([]() -> Status { return {}; }));
  }
}

TEST(Isolated, SurvivesFatalErrorsInNestedCalls) {
  const Status status = run_isolated([]() -> Status {
    return run_isolated([]() -> Status { llvm::report_fatal_error("inner", false); });
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("inner"));
}

TEST(Isolated, SurvivesExhaustedMemory) {
  const Status reported =
      run_isolated([]() -> Status { llvm::report_bad_alloc_error("no memory", false); });
  ASSERT_FALSE(reported);
  EXPECT_EQ(reported.error().status, KM_ERROR_OUT_OF_HOST_MEMORY);
  const Status thrown = run_isolated([]() -> Status { throw std::bad_alloc(); });
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().status, KM_ERROR_OUT_OF_HOST_MEMORY);
}

TEST(Isolated, ServesManyCallersWhileThreadsAreLost) {
  std::atomic<int> good{0}, bad{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 50; ++i) {
        const bool fails = (i + caller) % 10 == 0;
        const Result<int> result = run_isolated([&]() -> Result<int> {
          if (fails) llvm::report_fatal_error("lost", false);
          return i;
        });
        (result && *result == i ? good : bad) += 1;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(good, 360);
  EXPECT_EQ(bad, 40);
}

class Interrupted final : public Interruption {
 public:
  Status check() const override { return make_error(KM_ERROR_CONTEXT_LOST, "nobody waits"); }
};

/// Interrupts its caller when the job has begun: jobs that have not are dropped.
class InterruptedLater final : public Interruption {
 public:
  Status check() const override {
    if (has_begun) return make_error(KM_ERROR_CONTEXT_LOST, "nobody waits");
    return {};
  }
  std::atomic<bool> has_begun{false};
};

TEST(Isolated, ReturnsToACallerThatIsInterruptedAndEndsTheJob) {
  auto ended = std::make_shared<std::atomic<bool>>(false);
  InterruptedLater interrupted;
  const Status status = run_isolated(
      [ended, &interrupted](const Interruption& own) -> Status {
        interrupted.has_begun = true;
        while (own.check()) std::this_thread::yield();
        *ended = true;
        return own.check();
      },
      &interrupted);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().status, KM_ERROR_CONTEXT_LOST);
  while (!*ended) std::this_thread::yield();
}

TEST(Isolated, DoesNotBeginJobsOfCallersThatWereInterrupted) {
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  std::atomic<bool> release{false};
  std::atomic<unsigned> busy{0};
  std::vector<std::thread> callers;
  for (unsigned i = 0; i < threads; ++i) {
    callers.emplace_back([&] {
      static_cast<void>(run_isolated([&]() -> Status {
        ++busy;
        while (!release) std::this_thread::yield();
        return {};
      }));
    });
  }
  while (busy != threads) std::this_thread::yield();
  auto has_begun = std::make_shared<std::atomic<bool>>(false);
  const Interrupted interrupted;
  EXPECT_FALSE(run_isolated(
      [has_begun](const Interruption&) -> Status {
        *has_begun = true;
        return {};
      },
      &interrupted));
  release = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(run_isolated([]() -> Status { return {}; }));  // after what was queued before
  EXPECT_FALSE(*has_begun);
}

TEST(Isolated, HasTheDefaultFloatingPointEnvironment) {
  const arch::FloatControl old = arch::float_control();
  arch::set_float_control(old | arch::kFlushSubnormals);  // new threads inherit it
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      const auto control =
          run_isolated([]() -> Result<arch::FloatControl> { return arch::float_control(); });
      if (!control || (*control & arch::kFlushSubnormals) != 0) ++wrong;
    });
  }
  for (std::thread& caller : callers) caller.join();
  arch::set_float_control(old);
  EXPECT_EQ(wrong, 0);
}

TEST(Isolated, LeavesTheHostsSignalsAlone) {
  sigset_t before, after;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  const auto blocked = run_isolated([]() -> Result<bool> {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return sigismember(&mask, SIGINT) && sigismember(&mask, SIGALRM) &&
           !sigismember(&mask, SIGSEGV);
  });
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  ASSERT_TRUE(blocked);
  EXPECT_TRUE(*blocked);
  for (int signal = 1; signal < 32; ++signal) {
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  }
}

TEST(Isolated, StartsAnewInAForkedChild) {
  ASSERT_TRUE(run_isolated([]() -> Status { return {}; }));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    const Result<int> answer = run_isolated([]() -> Result<int> { return 42; });
    _exit(answer && *answer == 42 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Isolated, TheProcessExitsWhileAJobRuns) {
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    std::atomic<bool> started{false};
    std::thread([&] {
      static_cast<void>(run_isolated([&]() -> Status {
        started = true;
        for (;;) pause();
      }));
    }).detach();
    while (!started) std::this_thread::yield();
    exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  // Not its code: a leak checker misses the threads that stayed in the parent.
  EXPECT_TRUE(WIFEXITED(status));
}

}  // namespace
}  // namespace km::simt
