// Children of this process. One that fork() made has copies of all objects of the library and none
// of its threads, and what they had locked stays locked: nothing there may wait.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>

namespace km {

namespace detail {
extern std::atomic<bool> forked;
}

/// From now on is_forked() is true in children. Called by each library before its first use of what
/// others lock.
void watch_for_fork();

/// True if this process is the child of one that used this library. Costs one load.
inline bool is_forked() { return detail::forked.load(std::memory_order_relaxed); }

/// The process that made an object: for what runs at the end of threads and of the process, and
/// after functions of the host's, which may fork. It knows children of any call, also of those that
/// run no handlers, and costs a system call.
class ProcessMark {
 public:
  ProcessMark() : process_(getpid()) {}
  /// False in a child that has a copy of the object.
  bool is_here() const { return process_ == getpid(); }

 private:
  const pid_t process_;
};

}  // namespace km
