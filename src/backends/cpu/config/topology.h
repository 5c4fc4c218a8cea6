// The cores and the memory that this process may use. Control groups are taken into account.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace km::cpu {

/// The cores in the process's affinity mask.
std::vector<int> allowed_cpus();
/// The number of threads that can run at once: the allowed cores, or fewer if a control group
/// limits CPU time.
uint32_t usable_threads();
/// The processor's name, for example "AMD EPYC 7B13".
const std::string& cpu_name();
/// The highest clock rate, or the current one if sysfs does not report it; 0 if unknown.
uint64_t clock_khz();
/// The last-level cache that one core sees; 0 if unknown.
uint64_t last_level_cache_bytes();

/// The memory of the machine, or of the control group if that is less.
struct SystemMemory {
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;  // available without swapping
};
SystemMemory system_memory();
/// The resident anonymous memory of this process.
uint64_t resident_bytes();

/// The files of control groups, replaceable for tests.
struct CgroupFiles {
  std::string root = "/sys/fs/cgroup";
  std::string self = "/proc/self/cgroup";
};
/// The limit on CPU time in cores; 0 if there is none.
double cgroup_cpu_limit(const CgroupFiles& files = {});
/// The smallest limit among the groups that contain this process, and the smallest remainder;
/// UINT64_MAX if no group has a limit.
struct CgroupMemory {
  uint64_t limit_bytes = UINT64_MAX, free_bytes = UINT64_MAX;
};
CgroupMemory cgroup_memory(const CgroupFiles& files);

/// The memory of all CPU devices together.
struct DeviceMemory {
  uint64_t total_bytes = 0;  // the size that the devices report
  uint64_t most_bytes = 0;   // the most that they allocate
};
/// Computes the devices' memory: `limit_bytes` if it is not 0; otherwise half of the total memory
/// as the size, and half of the free memory as the most that is allocated, so that the program has
/// room for a copy of all data on the devices.
DeviceMemory device_memory(const SystemMemory& system, uint64_t limit_bytes);
/// The free memory that allocations on the devices leave to the program.
uint64_t program_reserve_bytes(uint64_t total_bytes);

}  // namespace km::cpu
