// Wake-ups of threads that wait in several processes.
#pragma once

#include "base/thread/futex.h"

namespace km::comm {

/// For messages.
inline double seconds(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// A word that is changed to wake the threads that wait for anything it stands for.
struct Bell {
  std::atomic<uint32_t> rung{0}, waiting{0};

  /// Follows a sequentially consistent store: a waiting thread either sees that store, or is seen
  /// here. Ranks that nobody waits for write nothing.
  void ring() {
    if (waiting.load() == 0) return;
    rung.fetch_add(1);
    futex_wake(rung, INT_MAX, FutexScope::machine);
  }
  /// Waits until `is_over()` or a ring that came after the call began; at most `timeout_ns`.
  template <class IsOver>
  void wait(uint64_t timeout_ns, IsOver&& is_over) {
    waiting.fetch_add(1);
    const uint32_t seen = rung.load();
    if (!is_over()) futex_wait(rung, seen, timeout_ns, FutexScope::machine);
    waiting.fetch_sub(1);
  }
};

}  // namespace km::comm
