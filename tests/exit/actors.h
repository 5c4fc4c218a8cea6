// The work of the threads of a process until it ends.
#pragma once

#include <cstdint>

#include <kernelmill/c_api.h>

namespace km::exit_test {

/// Numbers that follow from a first one.
class Random {
 public:
  explicit Random(uint64_t number) : state_(number * 0x9E3779B97F4A7C15 + 1) {}
  uint32_t next() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<uint32_t>(state_ >> 33);
  }
  /// 0 to `limit` - 1.
  uint32_t below(uint32_t limit) { return next() % limit; }
  bool one_of(uint32_t count) { return below(count) == 0; }

 private:
  uint64_t state_;
};

/// Starts threads that make calls for ever, a random choice.
void start_actors(Random& random);

/// Sees to it that the process has used the library.
void make_world();

/// Has a callback of the library end the process.
void exit_in_callback();

}  // namespace km::exit_test
