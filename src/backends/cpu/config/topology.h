// The cores and memory that this process may use, control groups counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace km::cpu {

/// The cores that this process may run on.
std::vector<int> allowed_cpus();
/// Threads that can run at once: the allowed cores, less where a control group gives less time.
uint32_t usable_threads();
/// "AMD EPYC 7B13", as the processor says it.
const std::string& cpu_name();
/// The nominal clock, 0: unknown.
uint64_t clock_khz();
/// The last-level cache as one core has it, 0: unknown.
uint64_t last_level_cache_bytes();

struct SystemMemory {
  uint64_t total_bytes = 0;  // of the machine or the control group, whichever is less
  uint64_t free_bytes = 0;   // that can be taken without swapping
};
SystemMemory system_memory();
/// Anonymous memory of this process that has real pages.
uint64_t resident_bytes();

/// The files that the functions above read, below `root`: for tests.
struct CgroupFiles {
  std::string root = "/sys/fs/cgroup";
  std::string self = "/proc/self/cgroup";
};
/// CPU time limit in cores, 0: none.
double cgroup_cpu_limit(const CgroupFiles& files = {});
/// The least limit of all groups around this process, and the least that one of them has left;
/// UINT64_MAX: no group has a limit.
struct CgroupMemory {
  uint64_t limit_bytes = UINT64_MAX, free_bytes = UINT64_MAX;
};
CgroupMemory cgroup_memory(const CgroupFiles& files);

/// The memory of all CPU devices together.
struct DeviceMemory {
  uint64_t total_bytes = 0;  // that they report
  uint64_t most_bytes = 0;   // that they give out
};
/// Half of the machine's or group's memory, and half of what is free, so that a program has room
/// for its own copies of all that it puts into the devices' memory; or `limit_bytes`, if it is not
/// 0.
DeviceMemory device_memory(const SystemMemory& system, uint64_t limit_bytes);
/// Free memory that is left to the program when memory is given out to it.
uint64_t program_reserve_bytes(uint64_t total_bytes);

}  // namespace km::cpu
