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

/// The outermost calls of one thread, in their order.
class ThreadCalls {
 public:
  /// Notes that a call has begun and returns its correlation id.
  uint32_t begin(uint64_t now_ns);
  void end(uint64_t now_ns);
  /// The id of the call during which this moment was; 0 if it is not known any more.
  uint32_t at(uint64_t moment_ns);

 private:
  struct Call {
    uint64_t begin_ns, end_ns;
    uint32_t correlation;
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
  /// The id of the call that a thread made at a moment; 0: none.
  uint32_t at(uint32_t thread, uint64_t moment_ns);

 private:
  std::mutex mutex_;  // guards the members below
  std::map<uint32_t, std::shared_ptr<ThreadCalls>> threads_;
};

/// The calling thread's id in the system.
uint32_t thread_id() noexcept;

}  // namespace km::cupti
