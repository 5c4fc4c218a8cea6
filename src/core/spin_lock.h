// A lock for a handful of instructions on data that threads rarely share.
#pragma once

#include <sched.h>

#include <atomic>

namespace km {

/// Meets std::lock_guard. Yields instead of spinning on, so that it cannot starve its owner.
class SpinLock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) wait();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  void wait() const {
    for (int spin = 0; spin < 64; ++spin) {
      if (!taken_.load(std::memory_order_relaxed)) return;
      __builtin_ia32_pause();
    }
    sched_yield();
  }

  std::atomic<bool> taken_{false};
};

}  // namespace km
