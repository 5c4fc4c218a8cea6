// Cancellation of threads: no call of this library is a cancellation point.
#pragma once

#include <pthread.h>
#include <time.h>

namespace km {

/// Postpones the cancellation of this thread (pthread_cancel) for the object's lifetime. Otherwise
/// system calls that are cancellation points would unwind the library's frames.
class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Sleeps for less than a second without being a cancellation point.
inline void sleep_uncancelled(long sleep_ns) {
  const NoCancellation postponed;
  const timespec sleep{0, sleep_ns};
  nanosleep(&sleep, nullptr);
}

}  // namespace km
