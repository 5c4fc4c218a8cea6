// Occupancy of functions on their devices, computed by base/occupancy.h.
#pragma once

#include <cstdint>
#include <functional>

#include "base/occupancy.h"
#include "core/module/module.h"

namespace km {

/// The limits of the device's multiprocessors; KM_ERROR_NOT_SUPPORTED if the device does not report
/// them.
Result<MultiprocessorLimits> multiprocessor_limits(const Device& device);
/// The resources that a block of the function needs.
Result<KernelNeeds> kernel_needs(const Function& function);

struct BestBlock {
  uint32_t threads = 0;
  uint32_t grid_blocks = 0;
};
/// The largest of the block sizes with the most active threads; `threads` is 0 if no block fits.
/// `shared_of` returns the dynamic shared memory for a block size; its error ends the search.
Result<BestBlock> find_best_block(const MultiprocessorLimits& limits, const KernelNeeds& needs,
                                  const std::function<Result<uint64_t>(uint32_t)>& shared_of,
                                  uint32_t max_block_threads);

/// The largest number of blocks in a cluster of this kernel.
Result<uint64_t> max_cluster_blocks(const Function& function);

/// The dynamic shared memory that each of `blocks` blocks on one multiprocessor may have.
/// KM_ERROR_INVALID_LAUNCH if they do not fit without any.
Result<uint64_t> available_shared_bytes(const MultiprocessorLimits& limits,
                                        const KernelNeeds& needs, uint32_t blocks,
                                        uint32_t block_threads);

}  // namespace km
