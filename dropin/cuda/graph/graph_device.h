// Graphs that kernels launch (CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH), and nodes that kernels
// change (CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE).
#pragma once

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

/// The first node that rules out launches of the graph by kernels.
struct DeviceLaunchProblem {
  uint64_t node = 0;  // in the outermost graph; 0: the graph as a whole
  CUgraphInstantiateResult why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
};
/// Fails if CUDA forbids kernels to launch the graph because of its nodes.
CUresult check_device_launch(const km::Graph& graph, DeviceLaunchProblem* out);
/// Like check_device_launch(graph), for the work of one node.
CUresult check_device_launch(const GraphWork& work);
/// Lets kernels launch the executable graph by its handle. On failure the handle ends.
CUresult enable_device_launch(km::GraphExec& graph, CUgraphExec handle);

/// The handle by which kernels change a kernel node; null if they cannot.
CUgraphDeviceNode device_node_of(const GraphWork& work);
/// Permanently lets kernels change a kernel node.
CUresult make_updatable(Graph& graph, uint64_t node, CUgraphDeviceNode* out);
/// Like make_updatable(), for the node that the stream captured last; an error if the stream is not
/// being captured.
CUresult make_captured_updatable(CUstream stream, CUgraphDeviceNode* out);
/// True if the graph, or a graph within it, has nodes that kernels can change.
bool has_updatable(const km::Graph& graph);

}  // namespace km::dropin
