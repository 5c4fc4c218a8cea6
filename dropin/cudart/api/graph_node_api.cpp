// Graph nodes: creation, parameters and edges.
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/frame/version.h"
#include "dropin/cudart/graph/graph_params.h"
#include "dropin/cudart/memory/copy.h"

namespace km::cudart {

namespace {

cudaError_t current_context(CUcontext* out) { return driver.cuCtxGetCurrent(out); }

cudaError_t add_copy(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                     size_t count, const cudaMemcpy3DParms& copy) {
  CUDA_MEMCPY3D box{};
  CUcontext context = nullptr;
  LIB_TRY(driver_copy(copy, &box));
  LIB_TRY(current_context(&context));
  return driver.cuGraphAddMemcpyNode(out, graph, after, count, &box, context);
}

cudaError_t set_copy(cudaGraphNode_t node, const cudaMemcpy3DParms& copy) {
  CUDA_MEMCPY3D box{};
  LIB_TRY(driver_copy(copy, &box));
  return driver.cuGraphMemcpyNodeSetParams(node, &box);
}

}  // namespace

extern "C" {

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  return call_context([&] { return driver.cuGraphAddEmptyNode(out, graph, after, count); });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* params) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(params);
    CUDA_KERNEL_NODE_PARAMS given{};
    LIB_TRY(driver_params(*params, &given));
    return driver.cuGraphAddKernelNode_v2(out, graph, after, count, &given);
  });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* out) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUDA_KERNEL_NODE_PARAMS found{};
    LIB_TRY(driver.cuGraphKernelNodeGetParams_v2(node, &found));
    return runtime_params(found, out);
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(params);
    CUDA_KERNEL_NODE_PARAMS given{};
    LIB_TRY(driver_params(*params, &given));
    return driver.cuGraphKernelNodeSetParams_v2(node, &given);
  });
}

// CUDA 12 has the source as the first parameter, CUDA 13 the destination.
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t first, cudaGraphNode_t second) {
  return call_context([&] {
    return is_cuda_12() ? driver.cuGraphKernelNodeCopyAttributes(second, first)
                        : driver.cuGraphKernelNodeCopyAttributes(first, second);
  });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            cudaLaunchAttributeValue* out) {
  return call_context([&] { return driver.cuGraphKernelNodeGetAttribute(node, attribute, out); });
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            const cudaLaunchAttributeValue* value) {
  return call_context([&] { return driver.cuGraphKernelNodeSetAttribute(node, attribute, value); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* copy) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(copy);
    return add_copy(out, graph, after, count, *copy);
  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count, void* target,
                                     const void* source, size_t size_bytes, cudaMemcpyKind kind) {
  return call_context([&] {
    return add_copy(out, graph, after, count, flat_copy(target, source, size_bytes, kind));
  });
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                           const cudaGraphNode_t* after, size_t count,
                                           const void* symbol, const void* source,
                                           size_t size_bytes, size_t offset_bytes,
                                           cudaMemcpyKind kind) {
  return call_context([&]() -> cudaError_t {
    void* target = nullptr;
    LIB_TRY(check_device_kind(kind, cudaMemcpyHostToDevice));
    LIB_TRY(symbol_part(symbol, offset_bytes, size_bytes, &target));
    return add_copy(out, graph, after, count, flat_copy(target, source, size_bytes, kind));
  });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                             const cudaGraphNode_t* after, size_t count,
                                             void* target, const void* symbol, size_t size_bytes,
                                             size_t offset_bytes, cudaMemcpyKind kind) {
  return call_context([&]() -> cudaError_t {
    void* source = nullptr;
    LIB_TRY(check_device_kind(kind, cudaMemcpyDeviceToHost));
    LIB_TRY(symbol_part(symbol, offset_bytes, size_bytes, &source));
    return add_copy(out, graph, after, count, flat_copy(target, source, size_bytes, kind));
  });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* out) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUDA_MEMCPY3D box{};
    LIB_TRY(driver.cuGraphMemcpyNodeGetParams(node, &box));
    return runtime_copy(box, out);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* copy) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(copy);
    return set_copy(node, *copy);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* target, const void* source,
                                           size_t size_bytes, cudaMemcpyKind kind) {
  return call_context([&] { return set_copy(node, flat_copy(target, source, size_bytes, kind)); });
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* source, size_t size_bytes,
                                                 size_t offset_bytes, cudaMemcpyKind kind) {
  return call_context([&]() -> cudaError_t {
    void* target = nullptr;
    LIB_TRY(check_device_kind(kind, cudaMemcpyHostToDevice));
    LIB_TRY(symbol_part(symbol, offset_bytes, size_bytes, &target));
    return set_copy(node, flat_copy(target, source, size_bytes, kind));
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* target,
                                                   const void* symbol, size_t size_bytes,
                                                   size_t offset_bytes, cudaMemcpyKind kind) {
  return call_context([&]() -> cudaError_t {
    void* source = nullptr;
    LIB_TRY(check_device_kind(kind, cudaMemcpyDeviceToHost));
    LIB_TRY(symbol_part(symbol, offset_bytes, size_bytes, &source));
    return set_copy(node, flat_copy(target, source, size_bytes, kind));
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* params) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(params);
    CUcontext context = nullptr;
    LIB_TRY(current_context(&context));
    const CUDA_MEMSET_NODE_PARAMS given = driver_params(*params);
    return driver.cuGraphAddMemsetNode(out, graph, after, count, &given, context);
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* out) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUDA_MEMSET_NODE_PARAMS found{};
    LIB_TRY(driver.cuGraphMemsetNodeGetParams(node, &found));
    *out = runtime_params(found);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* params) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(params);
    const CUDA_MEMSET_NODE_PARAMS given = driver_params(*params);
    return driver.cuGraphMemsetNodeSetParams(node, &given);
  });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* params) {
  return call_context([&] { return driver.cuGraphAddHostNode(out, graph, after, count, params); });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* out) {
  return call_context([&] { return driver.cuGraphHostNodeGetParams(node, out); });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* params) {
  return call_context([&] { return driver.cuGraphHostNodeSetParams(node, params); });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       cudaGraph_t child) {
  return call_context(
      [&] { return driver.cuGraphAddChildGraphNode(out, graph, after, count, child); });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* out) {
  return call_context([&] { return driver.cuGraphChildGraphNodeGetGraph(node, out); });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, size_t count,
                                        cudaEvent_t event) {
  return call_context(
      [&] { return driver.cuGraphAddEventRecordNode(out, graph, after, count, event); });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
  return call_context([&] { return driver.cuGraphEventRecordNodeGetEvent(node, out); });
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return call_context([&] { return driver.cuGraphEventRecordNodeSetEvent(node, event); });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, size_t count,
                                      cudaEvent_t event) {
  return call_context(
      [&] { return driver.cuGraphAddEventWaitNode(out, graph, after, count, event); });
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
  return call_context([&] { return driver.cuGraphEventWaitNodeGetEvent(node, out); });
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return call_context([&] { return driver.cuGraphEventWaitNodeSetEvent(node, event); });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count,
                                     cudaMemAllocNodeParams* params) {
  return call_context(
      [&] { return driver.cuGraphAddMemAllocNode(out, graph, after, count, params); });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* out) {
  return call_context([&] { return driver.cuGraphMemAllocNodeGetParams(node, out); });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, size_t count, void* address) {
  return call_context([&] {
    return driver.cuGraphAddMemFreeNode(out, graph, after, count, device_address(address));
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* out) {
  return call_context(
      [&] { return driver.cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr*>(out)); });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* out, cudaGraphNode_t node,
                                     cudaGraph_t clone) {
  return call_context([&] { return driver.cuGraphNodeFindInClone(out, node, clone); });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* out) {
  return call_context([&] { return driver.cuGraphNodeGetType(node, out); });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return call_context([&] { return driver.cuGraphDestroyNode(node); });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* params) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(params);
    CUgraphNodeParams given{};
    LIB_TRY(driver_params(*params, &given));
    return driver.cuGraphNodeSetParams(node, &given);
  });
}

}  // extern "C"

}  // namespace km::cudart
