// Creation, instantiation and launches of graphs.
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/frame/version.h"

namespace km::cudart {

namespace {

cudaError_t instantiate(cudaGraphExec_t* out, cudaGraph_t graph, cudaGraphInstantiateParams* params,
                        bool is_per_thread, const char* function = __builtin_FUNCTION()) {
  return call_context(
      [&]() -> cudaError_t {
        LIB_REQUIRE(params);
        cudaGraphInstantiateParams given = *params;
        if (is_per_thread) given.hUploadStream = per_thread(given.hUploadStream);
        const CUresult result = driver.cuGraphInstantiateWithParams(out, graph, &given);
        params->hErrNode_out = given.hErrNode_out;
        params->result_out = given.result_out;
        return result;
      },
      function);
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* out, unsigned flags) {
  return call_context([&] { return driver.cuGraphCreate(out, flags); });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call_context([&] { return driver.cuGraphDestroy(graph); });
}

cudaError_t cudaGraphClone(cudaGraph_t* out, cudaGraph_t graph) {
  return call_context([&] { return driver.cuGraphClone(out, graph); });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags) {
  return call_context([&] { return driver.cuGraphDebugDotPrint(graph, path, flags); });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call_context([&] { return driver.cuGraphGetNodes(graph, nodes, count); });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call_context([&] { return driver.cuGraphGetRootNodes(graph, nodes, count); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph,
                                          unsigned long long flags) {
  return call_context([&] { return driver.cuGraphInstantiateWithFlags(out, graph, flags); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph,
                                 unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(out, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* out, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
  return instantiate(out, graph, params, false);
}

cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* out, cudaGraph_t graph,
                                                cudaGraphInstantiateParams* params) {
  return instantiate(out, graph, params, true);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return call_context([&] { return driver.cuGraphUpload(exec, stream); });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call_context([&] { return driver.cuGraphLaunch(exec, stream); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call_context([&] { return driver.cuGraphExecDestroy(exec); });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* out) {
  return call_context([&] { return driver.cuGraphExecGetFlags(exec, out); });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  return call_context([&] { return driver.cuGraphExecUpdate_v2(exec, graph, info); });
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* out, cudaGraph_t graph,
                                             unsigned initial, unsigned flags) {
  return call_context([&]() -> cudaError_t {
    CUcontext context = nullptr;
    LIB_TRY(driver.cuCtxGetCurrent(&context));
    return driver.cuGraphConditionalHandleCreate(out, graph, context, initial, flags);
  });
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* out, void* object, cudaHostFn_t destroy,
                                 unsigned count, unsigned flags) {
  return call_driver([&] { return driver.cuUserObjectCreate(out, object, destroy, count, flags); });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return call_driver([&] { return driver.cuUserObjectRetain(object, count); });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return call_driver([&] { return driver.cuUserObjectRelease(object, count); });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return call_driver([&] { return driver.cuGraphRetainUserObject(graph, object, count, flags); });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return call_driver([&] { return driver.cuGraphReleaseUserObject(graph, object, count); });
}

}  // extern "C"

}  // namespace km::cudart
