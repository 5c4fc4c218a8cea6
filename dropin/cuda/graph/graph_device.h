// Graphs that kernels launch (CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH).
#pragma once

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

/// Fails if CUDA lets no kernel launch such a graph, for what its nodes do.
CUresult check_device_launch(const km::Graph& graph, CUgraphInstantiateResult* out_why);
/// Lets kernels launch the graph by its handle, which ends if they cannot.
CUresult enable_device_launch(km::GraphExec& graph, CUgraphExec handle);

}  // namespace km::dropin
