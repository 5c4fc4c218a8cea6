// A lock for critical sections of a few instructions on data that threads rarely share.
#pragma once

#include <sched.h>

#include <atomic>

#include "base/arch/processor.h"
#include "base/assert.h"
#include "base/thread/cancellation.h"

namespace km {

/// Usable with std::lock_guard. A waiting thread spins, then yields so that it does not starve the
/// owner, then sleeps, because some of these locks are held while work is queued.
class SpinLock {
 public:
  void lock() {
    for (unsigned turn = 0; taken_.exchange(true, std::memory_order_acquire); ++turn) wait(turn);
  }
  bool try_lock() { return !taken_.exchange(true, std::memory_order_acquire); }
  void unlock() {
    KM_ASSERT(taken_.load(std::memory_order_relaxed), "a lock that is released is held");
    taken_.store(false, std::memory_order_release);
  }

 private:
  static constexpr unsigned kYields = 100;
  static constexpr long kSleepNs = 50'000;

  void wait(unsigned turn) const {
    for (int spin = 0; spin < 64; ++spin) {
      if (!taken_.load(std::memory_order_relaxed)) return;
      arch::spin_hint();
    }
    if (turn < kYields) {
      sched_yield();
      return;
    }
    sleep_uncancelled(kSleepNs);
  }

  std::atomic<bool> taken_{false};
};

}  // namespace km
