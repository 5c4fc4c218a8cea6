// Executable graphs: instantiation, launches and updates.
#include <algorithm>

#include "core/graph/graph_capture.h"
#include "core/object/callback.h"
#include "dropin/cuda/graph/graph_conditional.h"
#include "dropin/cuda/graph/graph_device.h"
#include "dropin/cuda/graph/graph_memory.h"
#include "dropin/cuda/graph/graph_params.h"
#include "dropin/cuda/graph/memory_ops.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

constexpr cuuint64_t kKnownFlags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

/// The reason why a graph was not instantiated, for cuGraphInstantiateWithParams.
struct Refusal {
  CUgraphInstantiateResult why = CUDA_GRAPH_INSTANTIATE_ERROR;
  CUgraphNode node = nullptr;  // the node at fault; null: none in particular
};

CUresult instantiate(CUgraphExec* out, CUgraph handle, cuuint64_t flags, Refusal* refusal) {
  CU_REQUIRE(out);
  CU_GET(Graph, graph, handle);
  constexpr cuuint64_t kExclusive =
      CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  if ((flags & kExclusive) == kExclusive) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%llx exclude each other", flags);
  }
  if ((flags & ~kKnownFlags) != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%llx has unknown bits", flags);
  }
  if (graph->is_part()) return fail(CUDA_ERROR_INVALID_VALUE, "the graph is a part of another");
  const CUgraphInstantiateResult checked = check_conditionals(*graph);
  if (checked != CUDA_GRAPH_INSTANTIATE_SUCCESS) {
    refusal->why = checked;
    return fail(CUDA_ERROR_INVALID_VALUE, "conditional nodes and handles do not match");
  }
  const bool launches_by_kernels = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
  if (launches_by_kernels) {
    DeviceLaunchProblem problem;
    const CUresult checked_nodes = check_device_launch(graph->core(), &problem);
    if (checked_nodes != CUDA_SUCCESS) {
      refusal->why = problem.why;
      if (problem.node != 0) refusal->node = graph->handle_of_node(problem.node);
      return checked_nodes;
    }
  }
  const bool is_only = is_unique(graph->core());
  std::shared_ptr<void> claim = is_only ? graph->claim() : nullptr;
  if (is_only && !claim) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "a graph that allocates, decides or is changed by kernels has one instantiation "
                "at a time");
  }
  CU_ASSIGN(Ref<km::GraphExec> core, km::GraphExec::create(graph->core()));
  const Ref<km::GraphExec> made = core;
  CU_TRY(publish_in(graph->context(),
                    make_ref<dropin::GraphExec>(*graph, std::move(core), flags, std::move(claim)),
                    out));
  if (launches_by_kernels) CU_TRY(enable_device_launch(*made, *out));
  refusal->why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return CUDA_SUCCESS;
}

CUresult update_kernel(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS& params) {
  NodeUse use;
  CU_TRY(use.get(node));
  SharedWork work;
  CU_TRY(kernel_work_of(params, use.node.work.get(), &work));
  return update_node(exec, node, std::move(work));
}

CUgraphExecUpdateResult result_of_difference(km_graph_difference kind) {
  switch (kind) {
    case KM_GRAPH_DIFFERENCE_NONE:
      return CU_GRAPH_EXEC_UPDATE_SUCCESS;
    case KM_GRAPH_DIFFERENCE_NODE_KIND:
      return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    default:
      return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
}

CUresult update_all(CUgraphExec exec_handle, CUgraph graph_handle, CUgraphNode* out_node,
                    CUgraphExecUpdateResult* out_result) {
  CU_GET(GraphExec, exec, exec_handle);
  CU_GET(Graph, graph, graph_handle);
  *out_node = nullptr;
  *out_result = CU_GRAPH_EXEC_UPDATE_ERROR;
  if (graph->is_part()) return fail(CUDA_ERROR_INVALID_VALUE, "the graph is a part of another");
  if (exec->is_updatable() || has_updatable(graph->core())) {
    *out_result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    return fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                "a graph that kernels change is not updated as a whole");
  }
  if (check_conditionals(*graph) != CUDA_GRAPH_INSTANTIATE_SUCCESS) {
    return fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graphs are too different");
  }
  const GraphDifference difference = exec->core().compare(graph->core());
  *out_result = result_of_difference(difference.kind);
  if (difference.kind != KM_GRAPH_DIFFERENCE_NONE) {
    if (difference.node != 0) *out_node = graph->handle_of_node(difference.node);
    return fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graphs differ in more than parameters");
  }
  if (exec->launches_by_kernels()) {
    DeviceLaunchProblem problem;
    if (check_device_launch(graph->core(), &problem) != CUDA_SUCCESS) {
      if (problem.node != 0) *out_node = graph->handle_of_node(problem.node);
      *out_result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
      return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
  }
  const Status done = exec->update(*graph);
  if (done) return CUDA_SUCCESS;
  *out_result = CU_GRAPH_EXEC_UPDATE_ERROR;
  return result_of(done.error());
}

/// Makes changes visible to launches by kernels. Nothing else needs an upload: it is on the device
/// already.
CUresult upload_graph(CUgraphExec handle, CUstream stream_handle) {
  CU_GET(GraphExec, exec, handle);
  CU_STREAM_FOR_WORK(stream, stream_handle);
  CU_CHECK(exec->core().upload(stream.core()));
  return CUDA_SUCCESS;
}

CUresult launch_graph(CUgraphExec handle, CUstream stream_handle) {
  CU_GET(GraphExec, exec, handle);
  CU_STREAM_FOR_WORK(stream, stream_handle);
  return exec->launch(*stream);
}

}  // namespace

extern "C" {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  return guard(__func__, [&] {
    Refusal refusal;
    return instantiate(out, graph, flags, &refusal);
  });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    Refusal refusal;
    const CUresult made = instantiate(out, graph, params->flags, &refusal);
    params->result_out = refusal.why;
    params->hErrNode_out = refusal.node;
    CU_TRY(made);
    if ((params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0) return CUDA_SUCCESS;
    return upload_graph(*out, params->hUploadStream);
  });
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* out, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  return cuGraphInstantiateWithParams(out, graph, params);
}

CUresult cuGraphInstantiate_v2(CUgraphExec* out, CUgraph graph, CUgraphNode* error_node, char* log,
                               size_t size_bytes) {
  return guard(__func__, [&]() -> CUresult {
    if (error_node != nullptr) *error_node = nullptr;
    if (log != nullptr && size_bytes != 0) *log = '\0';
    Refusal refusal;
    return instantiate(out, graph, 0, &refusal);
  });
}

CUresult cuGraphInstantiate(CUgraphExec* out, CUgraph graph, CUgraphNode* error_node, char* log,
                            size_t size_bytes) {
  return cuGraphInstantiate_v2(out, graph, error_node, log, size_bytes);
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return guard(__func__, [&]() -> CUresult {
    if (!retire<dropin::GraphExec>(handle)) {
      return fail(CUDA_ERROR_INVALID_VALUE, "the graph is not a live handle");
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(flags);
    CU_GET(GraphExec, exec, handle);
    *flags = exec->flags();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return guard(__func__, [&] { return launch_graph(exec, stream); });
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
  return cuGraphLaunch(exec, per_thread(stream));
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream stream_handle) {
  return guard(__func__, [&]() -> CUresult { return upload_graph(handle, stream_handle); });
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream) {
  return cuGraphUpload(exec, per_thread(stream));
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    return update_kernel(exec, node, *params);
  });
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    return update_kernel(exec, node, newer(*params));
  });
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D* params, CUcontext) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    CU_TRY(use.get(node));
    SharedWork work;
    CU_TRY(memcpy_work_of(use.graph->context(), *params, use.node.work.get(), &work));
    return update_node(exec, node, std::move(work));
  });
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    CU_TRY(use.get(node));
    SharedWork work;
    CU_TRY(memset_work_of(use.graph->context(), *params, use.node.work.get(), &work));
    return update_node(exec, node, std::move(work));
  });
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    CU_TRY(use.get(node));
    SharedWork work;
    CU_TRY(host_work_of(use.graph->context(), *params, &work));
    return update_node(exec, node, std::move(work));
  });
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    CU_TRY(use.get(node));
    SharedWork work;
    CU_TRY(memory_ops_work_of(use.graph->context(), *params, &work));
    return update_node(exec, node, std::move(work));
  });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec_handle, CUgraphNode node, unsigned int enabled) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(GraphExec, exec, exec_handle);
    NodeUse use;
    CU_TRY(use.get(node));
    CU_CHECK(exec->core().set_enabled(use.node.id, enabled != 0));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec_handle, CUgraphNode node, unsigned int* enabled) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(enabled);
    CU_GET(GraphExec, exec, exec_handle);
    NodeUse use;
    CU_TRY(use.get(node));
    CU_ASSIGN(const bool is_on, exec->core().is_enabled(use.node.id));
    *enabled = is_on ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
  return guard(__func__, [&]() -> CUresult {
    SharedWork work;
    CU_TRY(child_graph_work_of(child, nullptr, &work));
    return update_node(exec, node, std::move(work));
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(info);
    info->errorFromNode = nullptr;
    return update_all(exec, graph, &info->errorNode, &info->result);
  });
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node,
                           CUgraphExecUpdateResult* result) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(error_node);
    CU_REQUIRE(result);
    return update_all(exec, graph, error_node, result);
  });
}

}  // extern "C"

}  // namespace km::cu
