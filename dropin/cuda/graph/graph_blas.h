// Captured BLAS calls, which programs see as host nodes.
#pragma once

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

/// Host node parameters that stand for the call; blas_node_of() maps them back as long as a node
/// holds the call.
CUDA_HOST_NODE_PARAMS read_blas(const SharedWork& work);
/// True for the host function that read_blas() returns.
bool is_blas_node(CUhostFn function);
/// The work whose parameters read_blas() returned. Fails for a node of another context.
CUresult blas_node_of(const Context& context, const void* user_data, SharedWork* out);

}  // namespace km::dropin
