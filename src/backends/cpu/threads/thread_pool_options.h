// The configuration of a device's worker threads.
#pragma once

#include <cstdint>
#include <vector>

namespace km::cpu {

/// Settings that the device fixes before its pool starts.
struct ThreadPoolOptions {
  uint32_t threads = 1;
  uint32_t first_name = 0;  // the number in the first thread's name, km-cpu-<first_name>
  std::vector<int> cpus;    // one processor to pin each thread to; empty: not pinned
  bool in_order = false;    // KM_CPU_DETERMINISTIC: one thread runs all blocks of a launch
  bool may_spin = true;  // false on a machine with one core, which the spinning thread would occupy
};

}  // namespace km::cpu
