// Nodes of executable graphs.
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/graph/graph_params.h"
#include "dropin/cudart/memory/copy.h"

namespace km::cudart {

namespace {

cudaError_t set_copy(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemcpy3DParms& copy) {
  CUDA_MEMCPY3D box{};
  CUcontext context = nullptr;
  LIB_TRY(driver_copy(copy, &box));
  LIB_TRY(driver.cuCtxGetCurrent(&context));
  return driver.cuGraphExecMemcpyNodeSetParams(exec, node, &box, context);
}

}  // namespace

extern "C" {

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(params);
    CUDA_KERNEL_NODE_PARAMS given{};
    LIB_TRY(driver_params(*params, &given));
    return driver.cuGraphExecKernelNodeSetParams_v2(exec, node, &given);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* copy) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(copy);
    return set_copy(exec, node, *copy);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               void* target, const void* source, size_t size_bytes,
                                               cudaMemcpyKind kind) {
  return call_context(
      [&] { return set_copy(exec, node, flat_copy(target, source, size_bytes, kind)); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void* symbol, const void* source,
                                                     size_t size_bytes, size_t offset_bytes,
                                                     cudaMemcpyKind kind) {
  return call_context([&]() -> cudaError_t {
    void* target = nullptr;
    LIB_TRY(check_device_kind(kind, cudaMemcpyHostToDevice));
    LIB_TRY(symbol_part(symbol, offset_bytes, size_bytes, &target));
    return set_copy(exec, node, flat_copy(target, source, size_bytes, kind));
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void* target, const void* symbol,
                                                       size_t size_bytes, size_t offset_bytes,
                                                       cudaMemcpyKind kind) {
  return call_context([&]() -> cudaError_t {
    void* source = nullptr;
    LIB_TRY(check_device_kind(kind, cudaMemcpyDeviceToHost));
    LIB_TRY(symbol_part(symbol, offset_bytes, size_bytes, &source));
    return set_copy(exec, node, flat_copy(target, source, size_bytes, kind));
  });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* params) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(params);
    CUcontext context = nullptr;
    LIB_TRY(driver.cuCtxGetCurrent(&context));
    const CUDA_MEMSET_NODE_PARAMS given = driver_params(*params);
    return driver.cuGraphExecMemsetNodeSetParams(exec, node, &given, context);
  });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* params) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(params);
    CUgraphNodeParams given{};
    LIB_TRY(driver_params(*params, &given));
    return driver.cuGraphExecNodeSetParams(exec, node, &given);
  });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* params) {
  return call_context([&] { return driver.cuGraphExecHostNodeSetParams(exec, node, params); });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return call_context([&] { return driver.cuGraphExecChildGraphNodeSetParams(exec, node, child); });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return call_context([&] { return driver.cuGraphExecEventRecordNodeSetEvent(exec, node, event); });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return call_context([&] { return driver.cuGraphExecEventWaitNodeSetEvent(exec, node, event); });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  return call_context([&] { return driver.cuGraphNodeSetEnabled(exec, node, enabled); });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* out) {
  return call_context([&] { return driver.cuGraphNodeGetEnabled(exec, node, out); });
}

}  // extern "C"

}  // namespace km::cudart
