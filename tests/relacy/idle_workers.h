// Workers that fall asleep while work arrives: ThreadPool::wait_for_work(), IdleWorkers::park(),
// sleep() and wake().
#pragma once

#include "models.h"

namespace km::relacy {

/// Either the worker sees the work, or whoever adds it sees the worker.
template <Orders orders>
struct IdleWorkers : rl::test_suite<IdleWorkers<orders>, 2> {
  rl::atomic<unsigned> asleep, woken, ready_count;
  bool sleeps = false;

  void before() {
    asleep.store(0, rl::memory_order_relaxed);
    woken.store(0, rl::memory_order_relaxed);
    ready_count.store(0, rl::memory_order_relaxed);
  }
  void thread(unsigned index) { index == 0 ? fall_asleep() : add_work(); }

  void fall_asleep() {
    const auto order = orders == Orders::too_weak ? rl::mo_acquire : rl::mo_seq_cst;
    const auto park = orders == Orders::too_weak ? rl::mo_release : rl::mo_seq_cst;
    woken.store(0, rl::memory_order_seq_cst);
    asleep.fetch_or(1, park, $);
    const bool has_work = ready_count.load(order, $) != 0;
    sleeps = !has_work || !take();
  }
  void add_work() {
    ready_count.fetch_add(1, rl::memory_order_seq_cst);
    if (asleep.load(rl::memory_order_seq_cst) != 0 && take()) {
      woken.store(1, rl::memory_order_seq_cst);
    }
  }
  bool take() { return (asleep.fetch_and(~1u, rl::memory_order_seq_cst) & 1) != 0; }

  void after() { RL_ASSERT(!sleeps || woken.load(rl::memory_order_relaxed) == 1); }
};

}  // namespace km::relacy
