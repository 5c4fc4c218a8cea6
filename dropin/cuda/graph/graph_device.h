// Graphs that kernels launch (CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH), and nodes that kernels
// change (CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE).
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

/// The handle by which kernels change a kernel's node; null: they do not.
CUgraphDeviceNode device_node_of(const GraphWork& work);
/// Lets kernels change the node, a kernel's, for good.
CUresult make_updatable(Graph& graph, uint64_t node, CUgraphDeviceNode* out);
/// make_updatable() for the node that was captured last; an error if the stream is not captured.
CUresult make_captured_updatable(CUstream stream, CUgraphDeviceNode* out);
/// True if kernels change nodes of the graph, or of graphs within.
bool has_updatable(const km::Graph& graph);

}  // namespace km::dropin
