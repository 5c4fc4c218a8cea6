// How many blocks of a kernel a multiprocessor holds, as NVIDIA's devices since 7.0 count it.
#pragma once

#include <cstdint>

#include "kernelmill/c_api.h"

namespace km {

/// The resources of a multiprocessor, by the device's attributes.
struct MultiprocessorLimits {
  uint32_t count = 0;  // multiprocessors
  uint32_t warp_threads = 0;
  uint32_t threads = 0, block_threads = 0;
  uint32_t blocks = 0;
  uint32_t registers = 0, block_registers = 0;
  uint64_t shared_bytes = 0, block_shared_bytes = 0;  // with opting in
  uint64_t reserved_shared_bytes = 0;                 // of each block
  uint64_t shared_unit_bytes = 128;                   // in which shared memory is given out
  uint32_t register_partitions = 4;                   // each with its part of the registers
  bool has_clusters = false;
};

/// The resources that one kernel takes.
struct KernelNeeds {
  uint32_t registers = 0;  // of a thread
  uint64_t static_shared_bytes = 0;
  uint32_t max_threads = 0;
  uint64_t max_dynamic_shared_bytes = 0;  // KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES
};

/// True if a launch may give a block this dynamic shared memory: the one answer of launches and of
/// occupancy. `block_shared_bytes`: of a block that opts in.
constexpr bool may_have_shared(uint64_t block_shared_bytes, const KernelNeeds& needs,
                               uint64_t dynamic_bytes) {
  return needs.static_shared_bytes <= block_shared_bytes &&
         dynamic_bytes <= block_shared_bytes - needs.static_shared_bytes &&
         dynamic_bytes <= needs.max_dynamic_shared_bytes;
}

/// The numbers of CUDA's device attributes that have none of ours.
constexpr int32_t kSharedPerMultiprocessorAttribute = 81, kRegistersPerMultiprocessorAttribute = 82;
constexpr int32_t kBlocksPerMultiprocessorAttribute = 106, kReservedSharedAttribute = 111;

km_occupancy compute_occupancy(const MultiprocessorLimits& limits, const KernelNeeds& needs,
                               uint32_t block_threads, uint64_t dynamic_shared_bytes);

}  // namespace km
