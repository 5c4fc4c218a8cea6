#include "base/process/processors.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/file/system_file.h"
#include "base/thread/cancellation.h"

namespace km {
namespace {

/// The last-level cache that one core sees. sysfs is asked first, because sysconf() may add up the
/// caches of the whole processor.
uint64_t read_last_level_cache_bytes() {
  for (const char* index : {"3", "2"}) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index";
    if (auto size_kib = number_in(folder + index + "/size")) return *size_kib << 10;
  }
  for (int name : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    long size = sysconf(name);
    if (size > 0) return static_cast<uint64_t>(size);
  }
  return 0;
}

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> found;
  int capacity = 1024;
  for (; capacity <= 65536; capacity *= 4) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(capacity));
    size_t size = CPU_ALLOC_SIZE(static_cast<size_t>(capacity));
    bool read = set != nullptr && sched_getaffinity(0, size, set) == 0;
    for (int cpu = 0; read && cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(static_cast<size_t>(cpu), size, set)) found.push_back(cpu);
    }
    CPU_FREE(set);
    if (read) break;
  }
  if (found.empty()) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < std::max(online, 1L); ++cpu) found.push_back(cpu);
  }
  return found;
}

uint32_t usable_processors(const CgroupFiles& files) {
  const NoCancellation postponed;
  auto cores = static_cast<double>(allowed_cpus().size());
  const double limit = cgroup_cpu_limit(files);
  if (limit > 0) cores = std::min(cores, std::ceil(limit));
  return static_cast<uint32_t>(std::max(cores, 1.0));
}

// The value is cached, since it takes several files.
uint64_t last_level_cache_bytes() {
  static const uint64_t bytes = read_last_level_cache_bytes();
  return bytes;
}

Result<uint64_t> cache_limit_bytes() {
  constexpr uint64_t kMostKib = uint64_t{1} << 40;
  const uint64_t known_kib = last_level_cache_bytes() >> 10;
  KM_ASSIGN(const uint64_t kib, env_integer(EnvVar::KM_CPU_CACHE_KIB, 0, kMostKib,
                                            known_kib != 0 ? known_kib : kMostKib));
  return kib << 10;
}

}  // namespace km
