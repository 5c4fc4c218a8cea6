// The worker threads of a device.
#pragma once

#include <cstdint>
#include <vector>

namespace km::cpu {

struct ThreadPoolOptions {
  uint32_t threads = 1;
  uint32_t first_name = 0;  // km-cpu-<first_name>, ...
  std::vector<int> cpus;    // processors to pin to, one for each thread; empty: not pinned
  bool in_order = false;    // KM_CPU_DETERMINISTIC: one thread runs all blocks of a launch
  bool may_spin = true;     // false on a machine with one core
};

}  // namespace km::cpu
