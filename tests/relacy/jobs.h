// Commands that several threads run: ThreadPool::publish(), enter() and leave().
#pragma once

#include "models.h"

namespace km::relacy {

/// One thread publishes two jobs in the same slot, one after the other, and the other two try to
/// enter the first. Who enters finds that job's data, and one participant is the last of each.
template <Orders orders>
struct Jobs : rl::test_suite<Jobs<orders>, 3> {
  static constexpr unsigned kOpen = 1u << 31, kGeneration = 1u << 16,
                            kParticipants = kGeneration - 1;

  rl::atomic<unsigned> state, free_jobs, ended;
  rl::var<unsigned> stream;

  void before() {
    state.store(0, rl::memory_order_relaxed);
    free_jobs.store(1, rl::memory_order_relaxed);
    ended.store(0, rl::memory_order_relaxed);
    stream($) = 0;
  }
  void thread(unsigned index) {
    if (index != 0) {
      if (enter(0)) take_part(0);
    } else if (publish(0)) {
      take_part(0);
      if (publish(kGeneration)) take_part(kGeneration);
    }
  }

  bool publish(unsigned generation) {
    unsigned free = free_jobs.load(rl::memory_order_relaxed);
    do {
      if (free == 0) return false;
    } while (!free_jobs.compare_exchange_weak(free, 0, rl::memory_order_acquire));
    RL_ASSERT((state.load(rl::memory_order_relaxed) & ~(kParticipants | kOpen)) == generation);
    stream($) = generation + 1;
    const auto order = orders == Orders::too_weak ? rl::mo_relaxed : rl::mo_release;
    state.store(generation | kOpen | 1, order, $);
    return true;
  }
  bool enter(unsigned generation) {
    unsigned now = state.load(rl::memory_order_acquire);
    do {
      if ((now & kOpen) == 0 || (now & ~(kParticipants | kOpen)) != generation) return false;
    } while (!state.compare_exchange_weak(now, now + 1, rl::memory_order_acquire));
    return true;
  }
  void take_part(unsigned generation) {
    RL_ASSERT(stream($) == generation + 1);
    state.fetch_and(~kOpen, rl::memory_order_seq_cst);
    const unsigned before = state.fetch_sub(1, rl::memory_order_acq_rel);
    if ((before & kParticipants) != 1) return;
    ended.fetch_add(1, rl::memory_order_relaxed);
    state.store((before & ~(kParticipants | kOpen)) + kGeneration, rl::memory_order_relaxed);
    free_jobs.fetch_or(1, rl::memory_order_release);
  }

  void after() {
    const unsigned jobs = state.load(rl::memory_order_relaxed) / kGeneration;
    RL_ASSERT(ended.load(rl::memory_order_relaxed) == jobs && jobs != 0);
  }
};

}  // namespace km::relacy
