// The number of blocks of a kernel that a multiprocessor holds, by NVIDIA's rules since compute
// capability 7.0.
#pragma once

#include <cstdint>

#include "kernelmill/c_api.h"

namespace km {

/// The resources of a multiprocessor, by the device's attributes.
struct MultiprocessorLimits {
  uint32_t count = 0;  // number of multiprocessors
  uint32_t warp_threads = 0;
  uint32_t threads = 0, block_threads = 0;
  uint32_t blocks = 0;
  uint32_t registers = 0, block_registers = 0;
  uint64_t shared_bytes = 0, block_shared_bytes = 0;  // second: limit per block with opt-in
  uint64_t reserved_shared_bytes = 0;                 // reserved by the system in each block
  uint64_t shared_unit_bytes = 128;                   // allocation granularity
  // Each partition has an equal share of the registers.
  uint32_t register_partitions = 4;
  bool has_clusters = false;
};

/// The resources that one kernel uses.
struct KernelNeeds {
  uint32_t registers = 0;  // per thread
  uint64_t static_shared_bytes = 0;
  uint32_t max_threads = 0;
  uint64_t max_dynamic_shared_bytes = 0;  // KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES
};

/// True if a launch may give a block this much dynamic shared memory. Launches and occupancy both
/// use it, so that they agree. `block_shared_bytes` is the limit of a block with opt-in.
constexpr bool may_have_shared(uint64_t block_shared_bytes, const KernelNeeds& needs,
                               uint64_t dynamic_bytes) {
  return needs.static_shared_bytes <= block_shared_bytes &&
         dynamic_bytes <= block_shared_bytes - needs.static_shared_bytes &&
         dynamic_bytes <= needs.max_dynamic_shared_bytes;
}

/// The numbers of CUDA's device attributes that have no KM_DEVICE_ATTRIBUTE_ of their own.
constexpr int32_t kSharedPerMultiprocessorAttribute = 81, kRegistersPerMultiprocessorAttribute = 82;
constexpr int32_t kBlocksPerMultiprocessorAttribute = 106, kReservedSharedAttribute = 111;

km_occupancy compute_occupancy(const MultiprocessorLimits& limits, const KernelNeeds& needs,
                               uint32_t block_threads, uint64_t dynamic_shared_bytes);

}  // namespace km
