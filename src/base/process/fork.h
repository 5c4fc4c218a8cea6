// Children of fork(). A child has copies of all objects of the library, but none of its threads,
// and locks that other threads held stay locked, so nothing in it may wait.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>

namespace km {

namespace detail {
extern std::atomic<bool> forked;
}

/// Makes is_forked() true in later children. Each library calls it before its first use of a lock
/// that other threads take.
void watch_for_fork();

/// True if this process is a child of one that used this library. It costs one load.
inline bool is_forked() { return detail::forked.load(std::memory_order_relaxed); }

/// Identifies the process that created the object, for code that runs at the end of threads and
/// processes and after host functions, which may fork. Unlike is_forked() it detects children of
/// any system call, such as those that run no fork handlers, and costs a system call.
class ProcessMark {
 public:
  ProcessMark() : process_(getpid()) {}
  /// False in a child, which has a copy of the object.
  bool is_here() const { return process_ == getpid(); }

 private:
  const pid_t process_;
};

}  // namespace km
