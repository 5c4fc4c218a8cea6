// How long the threads of a process were ready to run and had no processor: on a busy machine a
// call that lasts long need not hang.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace km::fuzz {

class RunDelay {
 public:
  explicit RunDelay(pid_t process) : process_(process) {}

  /// Notes the delay so far, once a second at most. The watcher calls it in its loop.
  void note(uint64_t now_ns);
  /// The sum over the threads since `from_ns`; 0 where the kernel does not tell.
  uint64_t since_ns(uint64_t from_ns) const;

 private:
  const pid_t process_;
  std::vector<std::pair<uint64_t, uint64_t>> notes_;  // time, delay so far
};

}  // namespace km::fuzz
