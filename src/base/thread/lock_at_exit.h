// Locks that are taken when the process exits.
#pragma once

#include <sched.h>

#include <mutex>

namespace km {

/// The lock, or an empty one. The exiting thread may have been interrupted anywhere, even while it
/// held the mutex, because handlers of signals may call exit(): so the wait is bounded.
inline std::unique_lock<std::mutex> lock_at_exit(std::mutex& mutex) {
  constexpr int kMostTurns = 1000;
  std::unique_lock lock(mutex, std::defer_lock);
  for (int turn = 0; turn < kMostTurns && !lock.try_lock(); ++turn) sched_yield();
  return lock;
}

}  // namespace km
