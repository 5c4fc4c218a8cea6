// The moment in which a wait for other ranks is active, since a sleep and a wake-up take longer.
#pragma once

#include <sched.h>

#include <cstdint>

#include "base/arch/processor.h"
#include "base/process/processors.h"

namespace km::comm {

/// Ranks that have a processor each spin; all of them yield after that, because ranks that share
/// a processor wait for each other's turn.
class Patience {
 public:
  explicit Patience(uint32_t ranks) : Patience(ranks, known_processors()) {}
  Patience(uint32_t ranks, uint32_t processors) : spins_(ranks <= processors ? kSpins : 0) {}

  /// The processors that this process may use, which takes some files to find out.
  static uint32_t known_processors() {
    static const uint32_t known = usable_processors();
    return known;
  }
  /// True if it begins by spinning.
  bool spins() const { return spins_ != 0; }
  /// Waits for a moment; true if is_over() was true.
  template <class IsOver>
  bool spend(IsOver&& is_over) const {
    for (uint32_t i = 0; i < spins_; ++i) {
      if (is_over()) return true;
      arch::spin_hint();
    }
    const uint64_t begin = arch::cycle_counter();
    while (arch::cycle_counter() - begin < kYieldTicks) {
      if (is_over()) return true;
      sched_yield();
    }
    return is_over();
  }

 private:
  static constexpr uint32_t kSpins = 100;  // of 5 to 50 ns
  // Longer if a yield gives another thread its turn, after which waits sleep, since
  // threads that wake up have their turn sooner than those that yield.
  static constexpr uint64_t kYieldTicks = arch::ticks_of_ns(50'000);
  const uint32_t spins_;
};

}  // namespace km::comm
