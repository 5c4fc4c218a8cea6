// The clocks that times in nanoseconds come from.
#pragma once

#include <time.h>

#include <cstdint>

namespace km {

/// Reads one of the system's clocks.
inline uint64_t clock_ns(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

/// Reads CLOCK_MONOTONIC, which all processes of a machine share.
inline uint64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }

/// Reads the time since 1970, for records that people compare with a clock on the wall.
inline int64_t wall_clock_ns() { return static_cast<int64_t>(clock_ns(CLOCK_REALTIME)); }

}  // namespace km
