// Locks that are taken when the process exits.
#pragma once

#include <sched.h>

#include <mutex>

#include "base/thread/clock.h"

namespace km {

/// The lock, or an empty one. The exiting thread may have been interrupted anywhere, even while it
/// held the mutex, because handlers of signals may call exit(): so the wait is bounded. It is long
/// enough for a holder that has lost its processor.
inline std::unique_lock<std::mutex> lock_at_exit(std::mutex& mutex) {
  constexpr uint64_t kMostNs = 100'000'000;
  std::unique_lock lock(mutex, std::defer_lock);
  const uint64_t begin_ns = now_ns();
  while (!lock.try_lock() && now_ns() - begin_ns < kMostNs) sched_yield();
  return lock;
}

}  // namespace km
