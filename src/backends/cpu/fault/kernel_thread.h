// The threads that run kernels, and how they are made to leave them.
#pragma once

#include <atomic>
#include <cstdint>

#include "backends/cpu/threads/futex.h"
#include "base/assert.h"

namespace km::cpu {

/// A KernelThread says whose kernel its thread runs, so that others can interrupt that. It is never
/// destroyed once it is enlisted.
class KernelThread {
 public:
  /// Makes it known to interrupt_all() and find_overdue(); false: too many threads are.
  bool enlist();
  /// The calling thread is the one that runs kernels here from now on.
  void take_over();

  /// A launch of `owner` begins. To be called before its stop word is read: interrupt_all() counts
  /// on that.
  void begin(const void* owner) {
    if (keeps_start_times_.load(std::memory_order_relaxed)) [[unlikely]]
      start_ns_.store(now_ns());
    KM_ASSERT(owner_.load() == nullptr, "a thread runs two launches at a time");
    owner_.store(owner);
  }
  /// The launch is over here.
  void end() { owner_.store(nullptr); }

  /// Makes all other threads that run launches of `owner` (null: of anybody) look at their stop
  /// word, until they have left or `timeout_ns` has passed. False in the latter case.
  static bool interrupt_all(const void* owner, const KernelThread* self, uint64_t timeout_ns);
  /// The owner and start of the oldest launch that runs longer than `limit_ns`, null: none.
  static const void* find_overdue(uint64_t limit_ns);
  /// From now on begin() keeps the start times that find_overdue() needs.
  static void keep_start_times();

 private:
  static inline std::atomic<bool> keeps_start_times_{false};
  std::atomic<int> thread_id_{0};
  std::atomic<const void*> owner_{nullptr};  // of the launch that runs here now
  std::atomic<uint64_t> start_ns_{0};
};

}  // namespace km::cpu
