// How many blocks of a kernel a multiprocessor holds, as NVIDIA's devices since 7.0 count it.
#pragma once

#include <cstdint>
#include <functional>

#include "core/module/module.h"

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

  static Result<MultiprocessorLimits> of(const Device& device);
};

/// The resources that one kernel takes.
struct KernelNeeds {
  uint32_t registers = 0;  // of a thread
  uint64_t static_shared_bytes = 0;
  uint32_t max_threads = 0;

  static Result<KernelNeeds> of(const Function& function);
};

km_occupancy compute_occupancy(const MultiprocessorLimits& limits, const KernelNeeds& needs,
                               uint32_t block_threads, uint64_t dynamic_shared_bytes);

struct BestBlock {
  uint32_t threads = 0;
  uint32_t grid_blocks = 0;
};
/// The largest of the block sizes that keep the most threads busy. Nothing fits: threads is 0.
/// `shared_of` gives the dynamic shared memory of a block; its error ends the search.
Result<BestBlock> find_best_block(const MultiprocessorLimits& limits, const KernelNeeds& needs,
                                  const std::function<Result<uint64_t>(uint32_t)>& shared_of,
                                  uint32_t max_block_threads);

/// Blocks that a cluster of this kernel may have.
Result<uint64_t> max_cluster_blocks(const Function& function);

/// The most dynamic shared memory of each of `blocks` blocks that fit together.
/// KM_ERROR_INVALID_LAUNCH where so many do not fit even without.
Result<uint64_t> available_shared_bytes(const MultiprocessorLimits& limits,
                                        const KernelNeeds& needs, uint32_t blocks,
                                        uint32_t block_threads);

}  // namespace km
