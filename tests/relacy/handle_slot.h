// Handles that one thread uses while another destroys them: HandleTable::insert(), pin(), unpin(),
// destroy() and reclaim().
#pragma once

#include "models.h"

namespace km::relacy {

/// A pinned object is alive; it is released once, after the last pin, and all that was done with it
/// comes before that.
template <Orders orders>
struct HandleSlot : rl::test_suite<HandleSlot<orders>, 3> {
  static constexpr unsigned kGeneration = 1u << 16, kLive = 1u << 12, kDying = 2u << 12;
  static constexpr unsigned kPins = kLive - 1;

  rl::atomic<unsigned> state;
  rl::atomic<int> object;
  rl::var<int> content;
  rl::atomic<int> released;

  void before() {
    state.store(0, rl::memory_order_relaxed);
    object.store(0, rl::memory_order_relaxed);
    released.store(0, rl::memory_order_relaxed);
  }
  void thread(unsigned index) {
    if (index == 0) insert();
    if (index == 1) use();
    if (index == 2) destroy();
  }

  void insert() {
    content($) = 7;
    object.store(1, rl::memory_order_relaxed);
    state.store(kLive, rl::memory_order_release);
  }
  bool pin() {
    unsigned now = state.load(rl::memory_order_acquire);
    do {
      if ((now & ~kPins) != kLive) return false;
    } while (!state.compare_exchange_weak(now, now + 1, rl::memory_order_acquire));
    return true;
  }
  void use() {
    if (!pin()) return;
    RL_ASSERT(object.load(rl::memory_order_relaxed) == 1);
    RL_ASSERT(content($) == 7);
    unpin();
  }
  void destroy() {
    unsigned now = state.load(rl::memory_order_acquire);
    do {
      if ((now & ~kPins) != kLive) return;
    } while (
        !state.compare_exchange_weak(now, kDying | ((now & kPins) + 1), rl::memory_order_acq_rel));
    unpin();
  }
  void unpin() {
    const auto order = orders == Orders::too_weak ? rl::mo_acquire : rl::mo_acq_rel;
    if (state.fetch_sub(1, order, $) != (kDying | 1)) return;
    RL_ASSERT(object.exchange(0, rl::memory_order_relaxed) == 1);
    state.store(kGeneration, rl::memory_order_release);
    content($) = 0;
    released.fetch_add(1, rl::memory_order_relaxed);
  }

  void after() {
    const bool is_live = state.load(rl::memory_order_relaxed) == kLive;
    RL_ASSERT(released.load(rl::memory_order_relaxed) == (is_live ? 0 : 1));
  }
};

}  // namespace km::relacy
