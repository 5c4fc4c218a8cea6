#include "base/thread/thread_signals.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <initializer_list>
#include <thread>

namespace km {
namespace {

constexpr int kOwn[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
const int kOfTheHost[] = {SIGINT,  SIGTERM, SIGHUP,  SIGALRM,
                          SIGPROF, SIGUSR1, SIGCHLD, SIGRTMIN + 3};

sigset_t mask_of_this_thread() {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return mask;
}

class ThreadSignals : public testing::Test {
 protected:
  ThreadSignals() : before_(mask_of_this_thread()) {}
  ~ThreadSignals() override { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  /// The host's thread blocks these and no others.
  static void block_only(std::initializer_list<int> signals) {
    sigset_t mask;
    sigemptyset(&mask);
    for (const int signal : signals) sigaddset(&mask, signal);
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  }

  static sigset_t mask_of_new_thread() {
    sigset_t mask;
    const LibraryThreadSignals signals;
    std::thread([&] { mask = mask_of_this_thread(); }).join();
    return mask;
  }

 private:
  sigset_t before_;
};

TEST_F(ThreadSignals, NewThreadsTakeTheirOwnFaultsOnly) {
  for (const bool blocks_faults : {false, true}) {
    if (blocks_faults) {
      block_only({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGTERM});
    } else {
      block_only({});
    }
    const sigset_t mask = mask_of_new_thread();
    for (const int signal : kOwn) EXPECT_EQ(sigismember(&mask, signal), 0) << signal;
    for (const int signal : kOfTheHost) EXPECT_EQ(sigismember(&mask, signal), 1) << signal;
  }
}

TEST_F(ThreadSignals, TheMakingThreadGetsItsMaskBack) {
  block_only({SIGUSR1, SIGBUS});
  static_cast<void>(mask_of_new_thread());
  const sigset_t mask = mask_of_this_thread();
  for (const int signal : {SIGUSR1, SIGBUS}) EXPECT_EQ(sigismember(&mask, signal), 1);
  for (const int signal : {SIGSEGV, SIGTERM, SIGALRM}) EXPECT_EQ(sigismember(&mask, signal), 0);
}

}  // namespace
}  // namespace km
