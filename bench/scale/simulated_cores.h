// Simulated cores: threads as coroutines on one clock, and cache lines that only one of them can
// change at a time.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <queue>
#include <utility>
#include <vector>

namespace km::bench {

/// Nanoseconds of one operation.
struct CoreCosts {
  double near_line = 60;      // a line that another core of the socket has changed
  double far_line = 140;      // one that a core of another socket has changed
  double own_line = 5;        // a locked operation on a line that the core has
  double wake_call = 1'500;   // the call that wakes a thread, for who calls it
  double wake_delay = 6'000;  // from that call to the thread's first instruction
  uint32_t cores_of_socket = 64;
};

/// A coroutine that begins at once and ends by itself; the clock resumes it.
struct SimulatedThread {
  struct promise_type {
    SimulatedThread get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

/// The time of all threads. What happens at one moment happens in the order in which it was asked
/// for.
class Clock {
 public:
  double now() const { return now_; }
  /// Makes the calling thread go on at `time`.
  auto until(double time) {
    struct Awaited {
      Clock* clock;
      double time;
      bool await_ready() const { return false; }
      void await_suspend(std::coroutine_handle<> thread) { clock->add(time, thread); }
      void await_resume() const {}
    };
    return Awaited{this, time};
  }
  auto after(double ns) { return until(now_ + ns); }
  /// Runs threads until none has anything left to do.
  void run() {
    while (!waiting_.empty()) {
      const Waiting next = waiting_.top();
      waiting_.pop();
      now_ = next.time;
      next.thread.resume();
    }
  }

 private:
  struct Waiting {
    double time;
    uint64_t order;
    std::coroutine_handle<> thread;
    bool operator<(const Waiting& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  void add(double time, std::coroutine_handle<> thread) {
    waiting_.push({std::max(time, now_), next_order_++, thread});
  }

  double now_ = 0;
  uint64_t next_order_ = 0;
  std::priority_queue<Waiting> waiting_;
};

/// A cache line. Changes by several cores happen one after another, each as long as the line takes
/// to move; reads of an unchanged copy are free.
class Line {
 public:
  /// The time at which a change that `core` begins now is done.
  double change(double now, uint32_t core, const CoreCosts& costs) {
    const double begin = std::max(now, free_at_);
    free_at_ = begin + cost(core, costs);
    owner_ = core;
    readers_.clear();
    ++changes_;
    return free_at_;
  }
  /// Changes without a look at the value wait in the core's buffer: several overlap.
  double store(double now, uint32_t core, const CoreCosts& costs) {
    constexpr double kOverlap = 4;
    const double done = change(now, core, costs);
    return now + (done - now) / kOverlap;
  }
  /// The time at which a read that `core` begins now has the value.
  double read(double now, uint32_t core, const CoreCosts& costs) {
    constexpr double kShare = 0.25;  // of a move, in which the line can serve nobody else
    if (owner_ == core || std::find(readers_.begin(), readers_.end(), core) != readers_.end())
      return now + 1;
    const double begin = std::max(now, free_at_), moves = cost(core, costs);
    free_at_ = begin + kShare * moves;
    readers_.push_back(core);
    return begin + moves;
  }
  uint64_t changes() const { return changes_; }

 private:
  double cost(uint32_t core, const CoreCosts& costs) const {
    if (owner_ == core) return costs.own_line;
    const bool is_near = owner_ / costs.cores_of_socket == core / costs.cores_of_socket;
    return is_near ? costs.near_line : costs.far_line;
  }

  double free_at_ = 0;
  uint32_t owner_ = 0;
  std::vector<uint32_t> readers_;
  uint64_t changes_ = 0;
};

}  // namespace km::bench
