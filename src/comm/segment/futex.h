// Waits for words that processes share.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace km::comm {

/// Reads CLOCK_MONOTONIC, which all processes of a machine share.
inline uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000U + static_cast<uint64_t>(t.tv_nsec);
}

/// Sleeps while `word` equals `expected`, until a wake-up or the timeout; it may return early.
inline void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected, uint64_t timeout_ns) {
  const timespec limit = {static_cast<time_t>(timeout_ns / 1000000000U),
                          static_cast<long>(timeout_ns % 1000000000U)};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}
inline void futex_wake(const std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// A word that is changed to wake the threads that wait for anything it stands for.
struct Bell {
  std::atomic<uint32_t> rung{0}, waiting{0};

  void ring() {
    rung.fetch_add(1);
    if (waiting.load() != 0) futex_wake(rung);
  }
  /// Waits until `is_over()` or a ring that came after the call began; at most `timeout_ns`.
  template <class IsOver>
  void wait(uint64_t timeout_ns, IsOver&& is_over) {
    waiting.fetch_add(1);
    const uint32_t seen = rung.load();
    if (!is_over()) futex_wait(rung, seen, timeout_ns);
    waiting.fetch_sub(1);
  }
};

}  // namespace km::comm
