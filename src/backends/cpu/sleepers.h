// Workers that have nothing to do sleep, each at a word of its own, so that who calls one can
// choose: one that last ran on the caller's processor would wait there for the caller to be done,
// while another processor has nothing to do.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace km::cpu {

class Sleepers {
 public:
  /// For so many workers, named by their number.
  explicit Sleepers(uint32_t workers);

  bool any() const;
  /// Workers that were called and have not got up yet.
  uint32_t coming() const { return coming_.load(); }

  /// From here on calls reach the worker.
  void lie_down(uint32_t worker);
  /// Until the worker is called; not at all if it would rather stay up and nobody has called it.
  void sleep(uint32_t worker, bool stays_up);

  /// Wakes as many, if they are there.
  void call(uint32_t count);

 private:
  struct alignas(64) Place {
    std::atomic<uint32_t> called{0};
    std::atomic<int> cpu{-1};  // where the worker ran last
  };
  bool take(uint32_t worker);
  uint32_t call_some(uint32_t count, int cpu_to_avoid);

  const uint32_t words_;
  std::unique_ptr<Place[]> places_;
  std::unique_ptr<std::atomic<uint64_t>[]> asleep_;  // a bit for each worker
  std::atomic<uint32_t> coming_{0};
};

}  // namespace km::cpu
