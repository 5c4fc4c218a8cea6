// The calls of the API that threads make: their correlation ids, by which records of operations
// name the call that queued them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

namespace km::cupti {

/// A call launches this: a kernel with such needs, or the number of an executable graph.
struct Launched {
  uint32_t registers = 0, static_shared_bytes = 0, local_bytes = 0;
  uint32_t graph = 0;
};

/// A call by which operations were queued; all 0 if it is not known any more.
struct QueuingCall {
  uint32_t correlation = 0;
  Launched launched;
};

/// The outermost calls of one thread, in their order.
class ThreadCalls {
 public:
  /// Notes that a call has begun and returns its correlation id.
  uint32_t begin(uint64_t now_ns);
  /// Notes what the call that has begun last launches.
  void note(const Launched& launched);
  void end(uint64_t now_ns);
  /// The call during which this moment was.
  QueuingCall at(uint64_t moment_ns);

 private:
  struct Call {
    uint64_t begin_ns, end_ns;
    QueuingCall known;
  };
  static constexpr size_t kMost = 1 << 16;  // older ones are forgotten

  std::mutex mutex_;  // guards the members below
  std::deque<Call> calls_;
};

/// The calls of all threads, by the threads' ids in the system.
class AllCalls {
 public:
  static AllCalls& instance();
  /// Those of the calling thread.
  ThreadCalls& here();
  /// The call that a thread made at a moment.
  QueuingCall at(uint32_t thread, uint64_t moment_ns);

 private:
  std::mutex mutex_;  // guards the members below
  std::map<uint32_t, std::shared_ptr<ThreadCalls>> threads_;
};

/// The calling thread's id in the system.
uint32_t thread_id() noexcept;

}  // namespace km::cupti
