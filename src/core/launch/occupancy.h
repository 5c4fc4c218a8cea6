// Occupancy of functions on their devices, by base/occupancy.h.
#pragma once

#include <cstdint>
#include <functional>

#include "base/occupancy.h"
#include "core/module/module.h"

namespace km {

/// The limits of the device's multiprocessors. KM_ERROR_NOT_SUPPORTED when it does not tell them.
Result<MultiprocessorLimits> multiprocessor_limits(const Device& device);
/// The resources that the function takes.
Result<KernelNeeds> kernel_needs(const Function& function);

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
