// Parks idle workers, each on a futex word of its own, so that the waking thread can choose one: a
// worker that last ran on the waking thread's processor would have to wait for that thread while
// another processor is idle.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace km::cpu {

/// The parked workers, by number.
class IdleWorkers {
 public:
  /// Makes room for workers with the numbers 0 to `workers` - 1.
  explicit IdleWorkers(uint32_t workers);

  /// True if a worker is parked.
  bool any() const;
  /// The number of workers that were woken but do not run yet.
  uint32_t coming() const { return coming_.load(); }

  /// Marks a worker as parked. It can be woken from then on, even before it calls sleep(). The
  /// caller then looks for work once more, and whoever adds work looks for parked workers
  /// afterwards. All these accesses are sequentially consistent, so that one of the two sees the
  /// other and no wake-up is lost.
  void park(uint32_t worker);
  /// Sleeps until the worker is woken. If `stays_up` and nobody has woken it, undoes park() and
  /// returns at once.
  void sleep(uint32_t worker, bool stays_up);

  /// Wakes `count` workers, or all if fewer are parked.
  void wake(uint32_t count);

 private:
  /// A worker's futex word. Each has a cache line of its own, so that a wake-up disturbs no other
  /// worker.
  struct alignas(64) Place {
    std::atomic<uint32_t> woken{0};
    std::atomic<int> cpu{-1};  // the processor on which the worker last ran
  };
  bool take(uint32_t worker);
  uint32_t wake_some(uint32_t count, int cpu_to_avoid);

  const uint32_t words_;
  std::unique_ptr<Place[]> places_;
  std::unique_ptr<std::atomic<uint64_t>[]> asleep_;  // one bit per worker
  std::atomic<uint32_t> coming_{0};
};

}  // namespace km::cpu
