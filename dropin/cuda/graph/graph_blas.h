// Captured calls of BLAS, which graphs show as host nodes.
#pragma once

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

/// Parameters from which blas_node_of() finds the call again, as long as a node has it.
CUDA_HOST_NODE_PARAMS read_blas(const SharedWork& work);
/// True for the function of read_blas().
bool is_blas_node(CUhostFn function);
/// The work that read_blas() has given the parameters of. A node of another context cannot have it.
CUresult blas_node_of(const Context& context, const void* user_data, SharedWork* out);

}  // namespace km::dropin
