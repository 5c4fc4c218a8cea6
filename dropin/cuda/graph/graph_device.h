// Graphs that kernels launch (CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH).
#pragma once

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

/// The first node that CUDA lets no graph for launches by kernels have.
struct DeviceLaunchProblem {
  uint64_t node = 0;  // of the outermost graph; 0: it is the graph as a whole
  CUgraphInstantiateResult why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
};
/// Fails if CUDA lets no kernel launch such a graph, for what its nodes do.
CUresult check_device_launch(const km::Graph& graph, DeviceLaunchProblem* out);
/// check_device_launch() for the work of one node.
CUresult check_device_launch(const GraphWork& work);
/// Lets kernels launch the graph by its handle, which ends if they cannot.
CUresult enable_device_launch(km::GraphExec& graph, CUgraphExec handle);

}  // namespace km::dropin
