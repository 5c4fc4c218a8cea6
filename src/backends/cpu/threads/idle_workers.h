// Idle workers sleep, each at a word of its own, so that the thread that wakes one can choose: a
// worker that last ran on the waking thread's processor would wait there until that thread is done,
// while another processor has nothing to do.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace km::cpu {

/// The workers that are parked, by number.
class IdleWorkers {
 public:
  /// Room for `workers` workers, which are numbers from 0.
  explicit IdleWorkers(uint32_t workers);

  bool any() const;
  /// Workers that were woken and have not got up yet.
  uint32_t coming() const { return coming_.load(); }

  /// Parks a worker: from here on it can be woken, though it sleeps in sleep() only.
  void park(uint32_t worker);
  /// Sleeps until the worker is woken; not at all if `stays_up` and nobody has woken it.
  void sleep(uint32_t worker, bool stays_up);

  /// Wakes `count` workers, or all if fewer are parked.
  void wake(uint32_t count);

 private:
  struct alignas(64) Place {
    std::atomic<uint32_t> woken{0};
    std::atomic<int> cpu{-1};  // where the worker ran last
  };
  bool take(uint32_t worker);
  uint32_t wake_some(uint32_t count, int cpu_to_avoid);

  const uint32_t words_;
  std::unique_ptr<Place[]> places_;
  std::unique_ptr<std::atomic<uint64_t>[]> asleep_;  // a bit for each worker
  std::atomic<uint32_t> coming_{0};
};

}  // namespace km::cpu
