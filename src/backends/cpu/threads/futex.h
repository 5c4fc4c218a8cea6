// Futex waits, clocks and a spin lock.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "base/arch/processor.h"

namespace km::cpu {

constexpr uint64_t kForever = UINT64_MAX;

/// Reads CLOCK_MONOTONIC.
inline uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

/// Reads a cheap counter for rough measurements, which runs at 2 to 5 ticks per nanosecond.
inline uint64_t now_ticks() { return arch::cycle_counter(); }

/// Sleeps while `word` equals `expected`, until a wake-up or the timeout. It may return early, so
/// the caller checks its condition again.
inline void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                       uint64_t timeout_ns = kForever) {
  timespec limit = {static_cast<time_t>(timeout_ns / 1000000000u),
                    static_cast<long>(timeout_ns % 1000000000u)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout_ns == kForever ? nullptr : &limit,
          nullptr, 0);
}

inline void futex_wake(const std::atomic<uint32_t>& word, int count = INT_MAX) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace km::cpu
