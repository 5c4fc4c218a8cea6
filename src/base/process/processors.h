// The processors that this process may use. Control groups are taken into account.
#pragma once

#include <cstdint>
#include <vector>

#include "base/process/control_group.h"
#include "base/result.h"

namespace km {

/// The processors in the thread's affinity mask.
std::vector<int> allowed_cpus();
/// The number of threads that can run at once: the allowed processors, or fewer if a control group
/// limits CPU time.
uint32_t usable_processors(const CgroupFiles& files = {});
/// The last-level cache that one processor sees; 0 if unknown.
uint64_t last_level_cache_bytes();
/// The size of that cache, or KM_CPU_CACHE_KIB in its place; without limit if unknown.
Result<uint64_t> cache_limit_bytes();

}  // namespace km
