// Tasks: work of the library in a stream, in pieces that several threads may run concurrently.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace km::cpu {

class Task {
 public:
  Task() = default;
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  /// The name in profiles, which must have static lifetime.
  virtual const char* name() const = 0;
  virtual uint64_t pieces() const = 0;
  /// The estimated time of all pieces.
  virtual float estimated_ns() const = 0;
  /// Runs one piece; in a graph, each launch runs it again. The floating-point state is the one
  /// that programs start with. An access to missing memory (a mapped file that was truncated) ends
  /// the function without running destructors, so resources that it holds are lost.
  virtual Status run(uint64_t piece) const = 0;
  /// True for work that start() begins in place of run(), and that may need work of other streams.
  virtual bool is_asynchronous() const { return false; }
  /// Begins the work. It waits for the work's end only if `may_wait` says that the thread would do
  /// so next. Returns true if the work is over; otherwise resume(resume_data) is called once when
  /// it is, on any thread, maybe before the return.
  virtual bool start([[maybe_unused]] bool may_wait, [[maybe_unused]] void (*resume)(void*),
                     [[maybe_unused]] void* resume_data) const {
    return true;
  }
  /// True if start() takes a moment, so that the thread that queues the task may call it.
  virtual bool begins_at_once() const { return false; }
  /// Called when an access to missing memory has ended run().
  virtual void abandon() const {}
  /// Floating-point operations, for profiles.
  virtual uint64_t operations() const { return 0; }
};

}  // namespace km::cpu
