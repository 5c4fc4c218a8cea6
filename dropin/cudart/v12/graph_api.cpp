// Graph functions of CUDA 12: each one exists with and without edge data.
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/graph/graph_edges.h"
#include "dropin/cudart/v12/types.h"

namespace km::cudart {

extern "C" {

cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t* out, cudaGraph_t graph,
                                const cudaGraphNode_t* after, const cudaGraphEdgeData* edges,
                                size_t count, cudaGraphNodeParams* params) {
  return call_context([&] { return add_node(out, graph, after, edges, count, params); });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                             size_t count, cudaGraphNodeParams* params) {
  return cudaGraphAddNode_v2(out, graph, after, nullptr, count, params);
}

cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                        size_t count) {
  return call_context(
      [&] { return driver.cuGraphAddDependencies_v2(graph, from, to, edges, count); });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, size_t count) {
  return cudaGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                           const cudaGraphNode_t* to,
                                           const cudaGraphEdgeData* edges, size_t count) {
  return call_context(
      [&] { return driver.cuGraphRemoveDependencies_v2(graph, from, to, edges, count); });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, size_t count) {
  return cudaGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                 cudaGraphEdgeData* edges, size_t* count) {
  return call_context([&] { return driver.cuGraphGetEdges_v2(graph, from, to, edges, count); });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              size_t* count) {
  return call_context([&] { return driver.cuGraphGetEdges(graph, from, to, count); });
}

cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                            cudaGraphEdgeData* edges, size_t* count) {
  return call_context(
      [&] { return driver.cuGraphNodeGetDependencies_v2(node, nodes, edges, count); });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         size_t* count) {
  return call_context([&] { return driver.cuGraphNodeGetDependencies(node, nodes, count); });
}

cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                              cudaGraphEdgeData* edges, size_t* count) {
  return call_context(
      [&] { return driver.cuGraphNodeGetDependentNodes_v2(node, nodes, edges, count); });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           size_t* count) {
  return call_context([&] { return driver.cuGraphNodeGetDependentNodes(node, nodes, count); });
}

cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                        unsigned long long* id, cudaGraph_t* graph,
                                        const cudaGraphNode_t** nodes,
                                        const cudaGraphEdgeData** edges, size_t* count) {
  return call_context([&] {
    return driver.cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, edges, count);
  });
}

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                        unsigned long long* id, cudaGraph_t* graph,
                                        const cudaGraphNode_t** nodes, size_t* count) {
  return call_context(
      [&] { return driver.cuStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, count); });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id) {
  return cudaStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}

cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                   const cudaGraphEdgeData* edges, size_t count,
                                                   unsigned flags) {
  return call_context([&] {
    return driver.cuStreamUpdateCaptureDependencies_v2(stream, nodes, edges, count, flags);
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                size_t count, unsigned flags) {
  return call_context(
      [&] { return driver.cuStreamUpdateCaptureDependencies(stream, nodes, count, flags); });
}

}  // extern "C"

}  // namespace km::cudart
