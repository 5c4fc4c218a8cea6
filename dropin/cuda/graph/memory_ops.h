// Streams that write numbers into memory, and wait for numbers there; nodes that do.
#pragma once

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

/// The most operations of one call.
inline constexpr unsigned kMostMemoryOps = 255;

/// Queues the operations in the stream of the handle, or captures them.
CUresult run_memory_ops(CUstream handle, const CUstreamBatchMemOpParams* params, unsigned count);

CUresult memory_ops_work_of(Context& context, const CUDA_BATCH_MEM_OP_NODE_PARAMS& params,
                            SharedWork* out);
/// The array lives as long as the work.
CUDA_BATCH_MEM_OP_NODE_PARAMS read_memory_ops(const GraphWork& work);

}  // namespace km::dropin
