// Stream memory operations, which write numbers into memory or wait for numbers there, in streams
// and as graph nodes.
#pragma once

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

/// The maximum number of operations in one call.
inline constexpr unsigned kMostMemoryOps = 255;

/// Queues the operations in the handle's stream, or captures them.
CUresult run_memory_ops(CUstream handle, const CUstreamBatchMemOpParams* params, unsigned count);

CUresult memory_ops_work_of(Context& context, const CUDA_BATCH_MEM_OP_NODE_PARAMS& params,
                            SharedWork* out);
/// A memory operation node's parameters; the array lives as long as the work.
CUDA_BATCH_MEM_OP_NODE_PARAMS read_memory_ops(const GraphWork& work);

}  // namespace km::dropin
