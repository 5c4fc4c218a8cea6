// Graph functions of CUDA 13: edge data, ids and parameters of any node type; the error log.
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/device/execution_context.h"
#include "dropin/cudart/graph/graph_edges.h"
#include "dropin/cudart/graph/graph_params.h"
#include "dropin/cudart/v13/types.h"

namespace km::cudart {

extern "C" {

cudaError_t cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* edges, size_t count,
                             cudaGraphNodeParams* params) {
  return call_context([&] { return add_node(out, graph, after, edges, count, params); });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                     size_t count) {
  return call_context(
      [&] { return driver.cuGraphAddDependencies_v2(graph, from, to, edges, count); });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                        size_t count) {
  return call_context(
      [&] { return driver.cuGraphRemoveDependencies_v2(graph, from, to, edges, count); });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edges, size_t* count) {
  return call_context([&] { return driver.cuGraphGetEdges_v2(graph, from, to, edges, count); });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* edges, size_t* count) {
  return call_context(
      [&] { return driver.cuGraphNodeGetDependencies_v2(node, nodes, edges, count); });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* edges, size_t* count) {
  return call_context(
      [&] { return driver.cuGraphNodeGetDependentNodes_v2(node, nodes, edges, count); });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                                     size_t* count) {
  return call_context([&] {
    return driver.cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, edges, count);
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData* edges, size_t count,
                                                unsigned flags) {
  return call_context([&] {
    return driver.cuStreamUpdateCaptureDependencies_v2(stream, nodes, edges, count, flags);
  });
}

cudaError_t cudaGraphConditionalHandleCreate_v2(cudaGraphConditionalHandle* out, cudaGraph_t graph,
                                                cudaExecutionContext_t handle, unsigned initial,
                                                unsigned flags) {
  return call_context([&]() -> cudaError_t {
    CUcontext context = nullptr;
    LIB_TRY(context_of(handle, &context));
    return driver.cuGraphConditionalHandleCreate(out, graph, context, initial, flags);
  });
}

cudaError_t cudaGraphNodeGetParams(cudaGraphNode_t node, cudaGraphNodeParams* out) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUgraphNodeParams found{};
    LIB_TRY(driver.cuGraphNodeGetParams(node, &found));
    return runtime_params(found, out);
  });
}

cudaError_t cudaGraphGetId(cudaGraph_t graph, unsigned* out) {
  return call_context([&] { return driver.cuGraphGetId(graph, out); });
}

cudaError_t cudaGraphExecGetId(cudaGraphExec_t exec, unsigned* out) {
  return call_context([&] { return driver.cuGraphExecGetId(exec, out); });
}

cudaError_t cudaGraphNodeGetContainingGraph(cudaGraphNode_t node, cudaGraph_t* out) {
  return call_context([&] { return driver.cuGraphNodeGetContainingGraph(node, out); });
}

cudaError_t cudaGraphNodeGetLocalId(cudaGraphNode_t node, unsigned* out) {
  return call_context([&] { return driver.cuGraphNodeGetLocalId(node, out); });
}

cudaError_t cudaGraphNodeGetToolsId(cudaGraphNode_t node, unsigned long long* out) {
  return call_context([&] { return driver.cuGraphNodeGetToolsId(node, out); });
}

cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callback, void* data,
                                     cudaLogsCallbackHandle* out) {
  return call_driver([&] { return driver.cuLogsRegisterCallback(callback, data, out); });
}

cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback) {
  return call_driver([&] { return driver.cuLogsUnregisterCallback(callback); });
}

cudaError_t cudaLogsCurrent(cudaLogIterator* out, unsigned flags) {
  return call_driver([&] { return driver.cuLogsCurrent(out, flags); });
}

cudaError_t cudaLogsDumpToFile(cudaLogIterator* iterator, const char* path, unsigned flags) {
  return call_driver([&] { return driver.cuLogsDumpToFile(iterator, path, flags); });
}

cudaError_t cudaLogsDumpToMemory(cudaLogIterator* iterator, char* out, size_t* size_bytes,
                                 unsigned flags) {
  return call_driver([&] { return driver.cuLogsDumpToMemory(iterator, out, size_bytes, flags); });
}

}  // extern "C"

}  // namespace km::cudart
