// Graphs: nodes, dependencies, clones, DOT output.
#include <algorithm>

#include "base/file/file_writer.h"
#include "core/graph/graph_work.h"
#include "dropin/cuda/graph/graph_conditional.h"
#include "dropin/cuda/graph/graph_memory.h"
#include "dropin/cuda/graph/graph_params.h"
#include "dropin/cuda/graph/memory_ops.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

/// Returns a list as CUDA does: without an array only its length; otherwise as many entries as fit,
/// with the rest of the array set to null.
template <class T>
CUresult give_list(const std::vector<T>& list, T* out, size_t* count) {
  CU_REQUIRE(count);
  if (out != nullptr) {
    for (size_t i = 0; i < *count; ++i) out[i] = i < list.size() ? list[i] : nullptr;
    *count = std::min(*count, list.size());
  } else {
    *count = list.size();
  }
  return CUDA_SUCCESS;
}

struct Edges {
  std::vector<CUgraphNode> from, to;
};

Edges edges_of(dropin::Graph& graph) {
  Edges edges;
  for (const km::GraphNode& node : graph.core().nodes()) {
    for (const uint64_t before : node.dependencies) {
      edges.from.push_back(graph.handle_of_node(before));
      edges.to.push_back(graph.handle_of_node(node.id));
    }
  }
  return edges;
}

CUresult get_edges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                   size_t* count) {
  CU_REQUIRE(count);
  CU_GET(Graph, graph, handle);
  const Edges edges = edges_of(*graph);
  size_t to_count = *count;
  if (data != nullptr) std::fill_n(data, *count, CUgraphEdgeData{});
  CU_TRY(give_list(edges.to, to, &to_count));
  return give_list(edges.from, from, count);
}

CUresult dependencies_of(CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* data,
                         size_t* count) {
  NodeUse use;
  CU_TRY(use.get(handle));
  std::vector<CUgraphNode> nodes;
  for (const uint64_t id : use.node.dependencies) nodes.push_back(use.graph->handle_of_node(id));
  if (data != nullptr && count != nullptr) std::fill_n(data, *count, CUgraphEdgeData{});
  return give_list(nodes, out, count);
}

CUresult dependents_of(CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* data, size_t* count) {
  NodeUse use;
  CU_TRY(use.get(handle));
  CU_ASSIGN(const std::vector<uint64_t> ids, use.graph->core().dependents(use.node.id));
  std::vector<CUgraphNode> nodes;
  for (const uint64_t id : ids) nodes.push_back(use.graph->handle_of_node(id));
  if (data != nullptr && count != nullptr) std::fill_n(data, *count, CUgraphEdgeData{});
  return give_list(nodes, out, count);
}

/// Nodes and edges cannot be removed from graphs that allocate memory.
CUresult check_may_shrink(dropin::Graph& graph) {
  for (const km::GraphNode& node : graph.core().nodes()) {
    if (memory_note_of(*node.work) == nullptr) continue;
    return fail(CUDA_ERROR_NOT_SUPPORTED, "a graph that allocates keeps all its nodes and edges");
  }
  return CUDA_SUCCESS;
}

CUresult change_edges(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, size_t count,
                      bool adds) {
  CU_GET(Graph, graph, handle);
  if (!adds) CU_TRY(check_may_shrink(*graph));
  if (count != 0) {
    CU_REQUIRE(from);
    CU_REQUIRE(to);
  }
  for (size_t i = 0; i < count; ++i) {
    NodeUse before, after;
    CU_TRY(before.get(from[i]));
    CU_TRY(after.get(to[i]));
    if (before.graph.get() != graph.get() || after.graph.get() != graph.get()) {
      return fail(CUDA_ERROR_INVALID_VALUE, "edge %zu joins nodes of other graphs", i);
    }
    CU_CHECK(adds ? graph->core().add_dependency(before.node.id, after.node.id)
                  : graph->core().remove_dependency(before.node.id, after.node.id));
  }
  return CUDA_SUCCESS;
}

CUresult add_kernel(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies, size_t count,
                    const CUDA_KERNEL_NODE_PARAMS& params) {
  CU_GET(Graph, graph, handle);
  SharedWork work;
  CU_TRY(kernel_work_of(params, nullptr, &work));
  return graph->add(dependencies, count, std::move(work), out);
}

CUresult set_work(const NodeUse& use, SharedWork work) {
  CU_CHECK(use.graph->core().set(use.node.id, std::move(work)));
  return CUDA_SUCCESS;
}

CUresult get_kernel(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* out) {
  CU_REQUIRE(out);
  NodeUse use;
  CU_TRY(use.get(handle));
  return read_kernel(*use.pinned, use.node.work, out);
}

CUresult set_kernel(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS& params) {
  NodeUse use;
  CU_TRY(use.get(handle));
  SharedWork work;
  CU_TRY(kernel_work_of(params, use.node.work.get(), &work));
  return set_work(use, std::move(work));
}

}  // namespace

extern "C" {

CUresult cuGraphCreate(CUgraph* out, unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u; it must be 0", flags);
    CU_CURRENT(context);
    auto core = make_ref<km::Graph>(*context->core());
    return publish_in(*context, make_ref<dropin::Graph>(*context, std::move(core)), out);
  });
}

CUresult cuGraphDestroy(CUgraph handle) {
  return guard(__func__, [&]() -> CUresult {
    const Pin<dropin::Graph> graph(handle);
    if (graph && graph->is_part()) {
      return fail(CUDA_ERROR_INVALID_VALUE, "the graph is a part of another");
    }
    if (!retire<dropin::Graph>(handle)) {
      return fail(CUDA_ERROR_INVALID_VALUE, "the graph is not a live handle");
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    return add_kernel(out, graph, dependencies, count, *params);
  });
}

CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    return add_kernel(out, graph, dependencies, count, newer(*params));
  });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies,
                              size_t count, const CUDA_MEMCPY3D* params, CUcontext) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    CU_GET(Graph, graph, handle);
    SharedWork work;
    CU_TRY(memcpy_work_of(graph->context(), *params, nullptr, &work));
    return graph->add(dependencies, count, std::move(work), out);
  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    CU_GET(Graph, graph, handle);
    SharedWork work;
    CU_TRY(memset_work_of(graph->context(), *params, nullptr, &work));
    return graph->add(dependencies, count, std::move(work), out);
  });
}

CUresult cuGraphAddHostNode(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies,
                            size_t count, const CUDA_HOST_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    CU_GET(Graph, graph, handle);
    SharedWork work;
    CU_TRY(host_work_of(graph->context(), *params, &work));
    return graph->add(dependencies, count, std::move(work), out);
  });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies,
                             size_t count) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(Graph, graph, handle);
    return graph->add(dependencies, count, empty_work(), out);
  });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies,
                                  size_t count, CUgraph child) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(Graph, graph, handle);
    SharedWork work;
    CU_TRY(child_graph_work_of(child, graph.get(), &work));
    return graph->add(dependencies, count, std::move(work), out);
  });
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies,
                                  size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    CU_GET(Graph, graph, handle);
    SharedWork work;
    CU_TRY(memory_ops_work_of(graph->context(), *params, &work));
    return graph->add(dependencies, count, std::move(work), out);
  });
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    CU_TRY(use.get(node));
    if (use.node.work->as<MemoryOpsOperation>() == nullptr) return other_type();
    *params = read_memory_ops(*use.node.work);
    params->ctx = handle_of(use.graph->context());
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
                                        const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    CU_TRY(use.get(node));
    SharedWork work;
    CU_TRY(memory_ops_work_of(use.graph->context(), *params, &work));
    return set_work(use, std::move(work));
  });
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* out) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    NodeUse use;
    CU_TRY(use.get(handle));
    if (use.node.work->child() == nullptr) return other_type();
    *out = use.graph->child_of(use.node.id, use.node.work);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
  return guard(__func__, [&]() -> CUresult {
    NodeUse use;
    CU_TRY(use.get(handle));
    CU_TRY(check_may_shrink(*use.graph));
    if (use.node.work->is_updatable()) {
      return fail(CUDA_ERROR_NOT_SUPPORTED, "a node that kernels change stays in its graph");
    }
    CU_CHECK(use.graph->core().remove(use.node.id));
    use.graph->forget_node(use.node.id);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(type);
    NodeUse use;
    CU_TRY(use.get(handle));
    *type = type_of(*use.node.work);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(Graph, graph, handle);
    std::vector<CUgraphNode> all;
    for (const auto& node : graph->core().nodes()) all.push_back(graph->handle_of_node(node.id));
    return give_list(all, nodes, count);
  });
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(Graph, graph, handle);
    std::vector<CUgraphNode> roots;
    for (const auto& node : graph->core().nodes()) {
      if (node.dependencies.empty()) roots.push_back(graph->handle_of_node(node.id));
    }
    return give_list(roots, nodes, count);
  });
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return guard(__func__, [&] { return get_edges(graph, from, to, nullptr, count); });
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* data, size_t* count) {
  return guard(__func__, [&] { return get_edges(graph, from, to, data, count); });
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return guard(__func__, [&] { return dependencies_of(node, nodes, nullptr, count); });
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                       size_t* count) {
  return guard(__func__, [&] { return dependencies_of(node, nodes, data, count); });
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return guard(__func__, [&] { return dependents_of(node, nodes, nullptr, count); });
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes,
                                         CUgraphEdgeData* data, size_t* count) {
  return guard(__func__, [&] { return dependents_of(node, nodes, data, count); });
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                size_t count) {
  return guard(__func__, [&] { return change_edges(graph, from, to, count, true); });
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData*, size_t count) {
  return guard(__func__, [&] { return change_edges(graph, from, to, count, true); });
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t count) {
  return guard(__func__, [&] { return change_edges(graph, from, to, count, false); });
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, size_t count) {
  return guard(__func__, [&] { return change_edges(graph, from, to, count, false); });
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  return guard(__func__, [&] { return get_kernel(node, params); });
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    CUDA_KERNEL_NODE_PARAMS read{};
    CU_TRY(get_kernel(node, &read));
    *params = {read.func,         read.gridDimX,  read.gridDimY,  read.gridDimZ,
               read.blockDimX,    read.blockDimY, read.blockDimZ, read.sharedMemBytes,
               read.kernelParams, read.extra};
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    return set_kernel(node, *params);
  });
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    return set_kernel(node, newer(*params));
  });
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    CU_TRY(use.get(node));
    if (type_of(*use.node.work) != CU_GRAPH_NODE_TYPE_MEMCPY) return other_type();
    *params = read_memcpy(*use.node.work);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    CU_TRY(use.get(node));
    SharedWork work;
    CU_TRY(memcpy_work_of(use.graph->context(), *params, use.node.work.get(), &work));
    return set_work(use, std::move(work));
  });
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    CU_TRY(use.get(node));
    if (type_of(*use.node.work) != CU_GRAPH_NODE_TYPE_MEMSET) return other_type();
    *params = read_memset(*use.node.work);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    CU_TRY(use.get(node));
    SharedWork work;
    CU_TRY(memset_work_of(use.graph->context(), *params, use.node.work.get(), &work));
    return set_work(use, std::move(work));
  });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    CU_TRY(use.get(node));
    if (type_of(*use.node.work) != CU_GRAPH_NODE_TYPE_HOST) return other_type();
    *params = read_host(use.node.work);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    CU_TRY(use.get(node));
    SharedWork work;
    CU_TRY(host_work_of(use.graph->context(), *params, &work));
    return set_work(use, std::move(work));
  });
}

CUresult cuGraphClone(CUgraph* out, CUgraph handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(Graph, graph, handle);
    if (is_unique(graph->core())) {
      return fail(CUDA_ERROR_NOT_SUPPORTED,
                  "a graph that allocates, decides or is changed by kernels cannot be cloned");
    }
    auto clone = make_ref<dropin::Graph>(graph->context(), graph->core().clone());
    clone->keep_all_of(*graph);
    return publish_in(graph->context(), std::move(clone), out);
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* out, CUgraphNode original, CUgraph clone) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(Graph, graph, clone);
    const Pin<dropin::GraphNode> node(original);
    if (!node) return fail(CUDA_ERROR_INVALID_VALUE, "the node is not a live handle");
    CU_CHECK(graph->core().node(node->node()));  // a clone's nodes keep their numbers
    *out = graph->handle_of_node(node->node());
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetContainingGraph(CUgraphNode handle, CUgraph* out) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    NodeUse use;
    CU_TRY(use.get(handle));
    *out = use.pinned->graph();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetLocalId(CUgraphNode handle, unsigned int* id) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(id);
    NodeUse use;
    CU_TRY(use.get(handle));
    *id = static_cast<unsigned>(use.node.id);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* out, CUgraph handle,
                                        CUcontext context, unsigned int default_value,
                                        unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(Graph, graph, handle);
    if ((flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT) != 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%x has unknown bits", flags);
    }
    if (context != handle_of(graph->context())) {
      return fail(CUDA_ERROR_INVALID_VALUE, "the graph is of another context");
    }
    std::shared_ptr<ConditionalValue> value;
    CU_TRY(ConditionalValue::create(*graph, default_value, flags, &value));
    *out = value->handle();
    graph->keep_value(std::move(value));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned int) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(path);
    CU_GET(Graph, graph, handle);
    CU_CHECK(write_file(path, graph_to_dot(graph->core())));
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
