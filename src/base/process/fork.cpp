#include "base/process/fork.h"

#include <pthread.h>

namespace km {

std::atomic<bool> detail::forked{false};

void watch_for_fork() {
  static const int registered = pthread_atfork(
      nullptr, nullptr, [] { detail::forked.store(true, std::memory_order_relaxed); });
  static_cast<void>(registered);
}

}  // namespace km
