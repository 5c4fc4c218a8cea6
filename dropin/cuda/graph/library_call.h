// Captured work of BLAS and other libraries, which programs see as host nodes.
#pragma once

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

/// True for the work of a library.
bool is_library_work(const GraphWork& work);
/// Host node parameters that stand for the call; library_call_of() maps them back as long as a node
/// holds the call.
CUDA_HOST_NODE_PARAMS read_library_call(const SharedWork& work);
/// True for the host function that read_library_call() returns.
bool is_library_call(CUhostFn function);
/// The work whose parameters read_library_call() returned. Fails for a node of another context.
CUresult library_call_of(const Context& context, const void* user_data, SharedWork* out);

}  // namespace km::dropin
