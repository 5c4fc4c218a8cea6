// After fork() the child has the library's memory but none of its threads: no call can work there.
#pragma once

#include <atomic>

namespace km {

namespace detail {
extern std::atomic<bool> forked;
}

/// From now on a fork makes the child's calls fail. Called before the first backend is loaded.
void watch_for_fork();

/// True if this process is the child of one that used the library.
inline bool is_forked() { return detail::forked.load(std::memory_order_relaxed); }

}  // namespace km
