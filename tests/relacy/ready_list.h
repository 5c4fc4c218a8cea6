// The list of ready streams: ThreadPool::add_ready() and take_ready(), Stream::try_own().
#pragma once

#include "models.h"

namespace km::relacy {

/// A stream that is in the list is taken out while its owner releases it again: either the one or
/// the other has to see that, or nobody would run it.
template <Orders orders>
struct ReadyList : rl::test_suite<ReadyList<orders>, 2> {
  enum State { kOwned, kReady };

  rl::atomic<int> state;
  rl::atomic<bool> listed;
  rl::var<int> work;
  bool is_listed_again = false, is_taken = false;

  void before() {
    state.store(kOwned, rl::memory_order_relaxed);
    listed.store(true, rl::memory_order_relaxed);
    work($) = 0;
  }
  void thread(unsigned index) { index == 0 ? release_stream() : take_ready(); }

  /// Stream::make_ready(), ThreadPool::add_ready().
  void release_stream() {
    work($) = 1;
    state.store(kReady, rl::memory_order_seq_cst);
    is_listed_again = !listed.exchange(true, rl::memory_order_seq_cst);
  }

  /// ThreadPool::take_ready() for the entry that another thread's waiting had made stale.
  void take_ready() {
    listed.store(false, rl::memory_order_seq_cst);
    const auto order = orders == Orders::too_weak ? rl::mo_relaxed : rl::mo_seq_cst;
    if (state.load(order, $) != kReady) return;
    int ready = kReady;
    is_taken = state.compare_exchange_strong(ready, kOwned, rl::memory_order_seq_cst);
    if (is_taken) RL_ASSERT(work($) == 1);
  }

  void after() { RL_ASSERT(is_listed_again || is_taken); }
};

}  // namespace km::relacy
