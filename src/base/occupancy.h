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
  bool has_clusters = false;
};

/// The resources that one kernel takes.
struct KernelNeeds {
  uint32_t registers = 0;  // of a thread
  uint64_t static_shared_bytes = 0;
  uint32_t max_threads = 0;
};

/// Shared memory is given out in units of so many bytes.
constexpr uint64_t kSharedUnitBytes = 128;

/// The numbers of CUDA's device attributes that have none of ours.
constexpr int32_t kSharedPerMultiprocessorAttribute = 81, kRegistersPerMultiprocessorAttribute = 82;
constexpr int32_t kBlocksPerMultiprocessorAttribute = 106, kReservedSharedAttribute = 111;

km_occupancy compute_occupancy(const MultiprocessorLimits& limits, const KernelNeeds& needs,
                               uint32_t block_threads, uint64_t dynamic_shared_bytes);

}  // namespace km
