// Futex waits and the clock that they take their limits from.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "base/thread/clock.h"

namespace km {

constexpr uint64_t kForever = UINT64_MAX;

/// The threads that may wait for a word: those of this process, which costs less, or of all
/// processes that share its memory.
enum class FutexScope : int { process = FUTEX_PRIVATE_FLAG, machine = 0 };

/// Sleeps while `word` equals `expected`, until a wake-up or the timeout. It may return early, so
/// the caller checks its condition again.
inline void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                       uint64_t timeout_ns = kForever, FutexScope scope = FutexScope::process) {
  timespec limit = {static_cast<time_t>(timeout_ns / 1000000000u),
                    static_cast<long>(timeout_ns % 1000000000u)};
  syscall(SYS_futex, &word, FUTEX_WAIT | static_cast<int>(scope), expected,
          timeout_ns == kForever ? nullptr : &limit, nullptr, 0);
}

inline void futex_wake(const std::atomic<uint32_t>& word, int count = INT_MAX,
                       FutexScope scope = FutexScope::process) {
  syscall(SYS_futex, &word, FUTEX_WAKE | static_cast<int>(scope), count, nullptr, nullptr, 0);
}

}  // namespace km
