// How many threads of a pool look for work, are between two tasks, and are awake. One word holds
// all three, since each thread changes them several times a launch: apart, they cost 64 threads
// twice as many moves of cache lines (bench/scale/schedule.cpp).
#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.h"

namespace km::cpu {

class WorkerCensus {
 public:
  /// Changes of the three numbers that belong together.
  struct Change {
    int spinners = 0;  // workers that spin, looking for work
    int between = 0;   // workers that neither spin nor work now, but soon will
    int awake = 0;     // workers that run or spin, and host threads that help
  };

  uint32_t spinners() const { return field(numbers_.load(), kSpinners); }
  /// Threads that look for work or are about to.
  uint32_t looking() const {
    const uint64_t numbers = numbers_.load();
    return field(numbers, kSpinners) + field(numbers, kBetween);
  }
  uint32_t awake() const { return field(numbers_.load(), kAwake); }
  /// awake() without an order among other accesses: a hint.
  uint32_t awake_lately() const { return field(numbers_.load(std::memory_order_relaxed), kAwake); }

  /// Makes all of a change at once. Sequentially consistent, as IdleWorkers wants it.
  void change(const Change& by) {
    [[maybe_unused]] const uint64_t before = numbers_.fetch_add(
        delta(by.spinners, kSpinners) + delta(by.between, kBetween) + delta(by.awake, kAwake));
    KM_ASSERT(fits(before, by.spinners, kSpinners) && fits(before, by.between, kBetween) &&
                  fits(before, by.awake, kAwake),
              "a count of the pool falls below 0");
  }
  /// Counts one thread fewer as awake if more than `most` are; false if not.
  bool retire_above(uint32_t most) {
    uint64_t numbers = numbers_.load(std::memory_order_relaxed);
    while (field(numbers, kAwake) > most) {
      if (numbers_.compare_exchange_weak(numbers, numbers + delta(-1, kAwake))) return true;
    }
    return false;
  }

 private:
  // Places of the numbers, each with 21 bits.
  static constexpr uint32_t kSpinners = 0, kBetween = 21, kAwake = 42;
  static constexpr uint64_t kMask = (uint64_t{1} << 21) - 1;

  static uint32_t field(uint64_t numbers, uint32_t place) {
    return static_cast<uint32_t>((numbers >> place) & kMask);
  }
  // A negative change borrows from the number above, which the sum gives back.
  static uint64_t delta(int by, uint32_t place) {
    return static_cast<uint64_t>(static_cast<int64_t>(by)) << place;
  }
  static bool fits(uint64_t before, int by, uint32_t place) {
    const int64_t after = static_cast<int64_t>(field(before, place)) + by;
    return after >= 0 && after <= static_cast<int64_t>(kMask);
  }

  std::atomic<uint64_t> numbers_{0};
};

}  // namespace km::cpu
