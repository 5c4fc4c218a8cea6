// The moment in which a wait for other ranks is active, since a sleep and a wake-up take longer.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <cstdint>

#include "base/arch/processor.h"

namespace km::comm {

/// Ranks that have a processor each spin; all of them yield after that, because ranks that share
/// a processor wait for each other's turn.
class Patience {
 public:
  explicit Patience(uint32_t ranks)
      : spins_(static_cast<long>(ranks) <= sysconf(_SC_NPROCESSORS_ONLN) ? kSpins : 0) {}

  /// Waits for a moment; true if is_over() was true.
  template <class IsOver>
  bool spend(IsOver&& is_over) const {
    for (uint32_t i = 0; i < spins_; ++i) {
      if (is_over()) return true;
      arch::spin_hint();
    }
    for (uint32_t i = 0; i < kYields; ++i) {
      if (is_over()) return true;
      sched_yield();
    }
    return is_over();
  }

 private:
  // A hint takes 5 to 50 ns; a yield 0.3 us, or a turn of another thread.
  static constexpr uint32_t kSpins = 100, kYields = 100;
  const uint32_t spins_;
};

}  // namespace km::comm
