// Limits of the control groups that this process belongs to.
#pragma once

#include <cstdint>
#include <string>

namespace km {

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

}  // namespace km
