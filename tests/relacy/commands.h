// A stream's commands: Stream::append(), finish(), recycle(), allocate() and sleep().
#pragma once

#include "models.h"

namespace km::relacy {

/// A host thread submits a command, which the owner of the stream runs and puts on the list of
/// free ones, from where a third thread takes it for its own use.
template <Orders orders>
struct Commands : rl::test_suite<Commands<orders>, 3> {
  rl::atomic<int> next, freed, completed;
  rl::var<int> content, result;

  void before() {
    next.store(0, rl::memory_order_relaxed);
    freed.store(0, rl::memory_order_relaxed);
    completed.store(0, rl::memory_order_relaxed);
  }
  void thread(unsigned index) {
    if (index == 0) submit_and_look();
    if (index == 1) run();
    if (index == 2) allocate();
  }

  void submit_and_look() {
    content($) = 7;
    next.store(1, rl::memory_order_release);
    if (completed.load(rl::memory_order_acquire) == 1) RL_ASSERT(result($) == 8);
  }
  void run() {
    if (next.load(rl::memory_order_acquire) == 0) return;
    result($) = content($) + 1;
    const auto order = orders == Orders::too_weak ? rl::mo_relaxed : rl::mo_release;
    int top = freed.load(rl::memory_order_relaxed);
    while (!freed.compare_exchange_weak(top, 1, order, $)) {
    }
    completed.store(1, rl::memory_order_seq_cst);
  }
  void allocate() {
    if (freed.exchange(0, rl::memory_order_acquire) == 1) content($) = 9;
  }
};

/// A thread that waits for a ticket falls asleep, or sees that it is complete: Stream::sleep() and
/// complete().
template <Orders orders>
struct Tickets : rl::test_suite<Tickets<orders>, 2> {
  static constexpr unsigned kNothing = ~0u, kTicket = 5;

  rl::atomic<unsigned> wanted, completed, wake_word;
  rl::mutex mutex;
  bool sleeps = false;
  unsigned word = 0;

  void before() {
    wanted.store(kNothing, rl::memory_order_relaxed);
    completed.store(kTicket - 1, rl::memory_order_relaxed);
    wake_word.store(0, rl::memory_order_relaxed);
  }
  void thread(unsigned index) { index == 0 ? sleep() : complete(); }

  void sleep() {
    word = wake_word.load(rl::memory_order_seq_cst);
    mutex.lock($);
    if (kTicket < wanted.load(rl::memory_order_relaxed)) {
      wanted.store(kTicket, rl::memory_order_seq_cst);
    }
    mutex.unlock($);
    const auto order = orders == Orders::too_weak ? rl::mo_acquire : rl::mo_seq_cst;
    sleeps = completed.load(order, $) < kTicket;
  }
  void complete() {
    completed.store(kTicket, rl::memory_order_seq_cst);
    if (wanted.load(rl::memory_order_seq_cst) > kTicket) return;
    mutex.lock($);
    if (wanted.load(rl::memory_order_relaxed) <= kTicket) {
      wanted.store(kNothing, rl::memory_order_seq_cst);
      wake_word.fetch_add(1, rl::memory_order_seq_cst);
    }
    mutex.unlock($);
  }

  /// The futex does not sleep, or is woken, if its word has changed.
  void after() { RL_ASSERT(!sleeps || wake_word.load(rl::memory_order_relaxed) != word); }
};

}  // namespace km::relacy
