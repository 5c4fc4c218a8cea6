// The threads that run kernels, and their interruption.
#pragma once

#include <atomic>
#include <cstdint>

#include "backends/cpu/threads/futex.h"
#include "base/assert.h"

namespace km::cpu {

/// Records whose kernel a thread runs, so that other threads can interrupt it. An enlisted object
/// is never destroyed, because the list is read without a lock.
class KernelThread {
 public:
  /// Adds the object to the list for interrupt_all() and find_overdue(); false if the list is full.
  bool enlist();
  /// Makes the calling thread the one that runs kernels by this object.
  void take_over();

  /// Records the start of a launch of `owner`. It must precede the launch's first look at the stop
  /// word: interrupt_all(), which is called after the word was set, then either sees the owner, or
  /// the launch sees the word.
  void begin(const void* owner) {
    if (keeps_start_times_.load(std::memory_order_relaxed)) [[unlikely]]
      start_ns_.store(now_ns());
    KM_ASSERT(owner_.load() == nullptr, "a thread runs two launches at a time");
    owner_.store(owner);
  }
  /// Records the end of the launch.
  void end() { owner_.store(nullptr); }

  /// Interrupts the threads that run launches of `owner` (null: of anyone), except `self`, again
  /// and again until all of them have stopped or `timeout_ns` has passed; false in the latter case.
  static bool interrupt_all(const void* owner, const KernelThread* self, uint64_t timeout_ns);
  /// The owner of a launch that has run longer than `limit_ns`; null if there is none.
  static const void* find_overdue(uint64_t limit_ns);
  /// Makes begin() record start times, for find_overdue(). Without a time limit, launches need not
  /// read the clock.
  static void keep_start_times();

 private:
  static inline std::atomic<bool> keeps_start_times_{false};
  std::atomic<int> thread_id_{0};
  std::atomic<const void*> owner_{nullptr};  // the owner of the running launch, null: no launch
  std::atomic<uint64_t> start_ns_{0};
};

}  // namespace km::cpu
