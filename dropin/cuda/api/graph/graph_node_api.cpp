// Nodes of every type by CUgraphNodeParams; event and memory nodes.
#include "dropin/cuda/graph/graph_memory.h"
#include "dropin/cuda/graph/graph_params.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult add_node(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies,
                  const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* params) {
  CU_REQUIRE(params);
  CU_REQUIRE(out);
  CU_GET(Graph, graph, handle);
  CU_TRY(check_edges(edges, count));
  if (params->type == CU_GRAPH_NODE_TYPE_GRAPH &&
      params->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
    return move_child(*graph, dependencies, count, params->graph.graph, out);
  }
  SharedWork work;
  CU_TRY(work_of(graph->context(), *params, nullptr, graph.get(), &work));
  CU_TRY(graph->add(dependencies, count, work, out));
  if (work->as<ConditionalOperation>() != nullptr) {
    const Pin<dropin::GraphNode> node(*out);
    params->conditional.phGraph_out = graph->bodies_of(node->node(), work);
  }
  return CUDA_SUCCESS;
}

/// Makes work from parameters, which must be of the node's type.
CUresult new_work_of(const NodeUse& use, CUgraphNodeParams* params, SharedWork* out) {
  CU_REQUIRE(params);
  const CUgraphNodeType type = type_of(*use.node.work);
  if (params->type != type) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the node is of type %d, not %d", type, params->type);
  }
  if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
    return fail(CUDA_ERROR_INVALID_VALUE, "nodes that allocate and free stay as they are");
  }
  return work_of(use.graph->context(), *params, use.node.work.get(), nullptr, out);
}

CUresult set_params(CUgraphNode handle, CUgraphNodeParams* params) {
  NodeUse use;
  CU_TRY(use.get(handle));
  SharedWork work;
  CU_TRY(new_work_of(use, params, &work));
  CU_CHECK(use.graph->core().set(use.node.id, std::move(work)));
  return CUDA_SUCCESS;
}

CUresult add_event(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies, size_t count,
                   CUgraphNodeType type, CUevent event) {
  CU_GET(Graph, graph, handle);
  SharedWork work;
  CU_TRY(event_work_of(graph->context(), type, event, &work));
  return graph->add(dependencies, count, std::move(work), out);
}

CUresult get_event(CUgraphNode handle, CUgraphNodeType type, CUevent* out) {
  CU_REQUIRE(out);
  NodeUse use;
  CU_TRY(use.get(handle));
  if (type_of(*use.node.work) != type) return other_type();
  *out = event_of(*use.node.work);
  return CUDA_SUCCESS;
}

CUresult new_event(CUgraphNode handle, CUgraphNodeType type, CUevent event, NodeUse* use,
                   SharedWork* out) {
  CU_TRY(use->get(handle));
  if (type_of(*use->node.work) != type) return other_type();
  return event_work_of(use->graph->context(), type, event, out);
}

CUresult set_event(CUgraphNode handle, CUgraphNodeType type, CUevent event) {
  NodeUse use;
  SharedWork work;
  CU_TRY(new_event(handle, type, event, &use, &work));
  CU_CHECK(use.graph->core().set(use.node.id, std::move(work)));
  return CUDA_SUCCESS;
}

CUresult update_event(CUgraphExec exec, CUgraphNode handle, CUgraphNodeType type, CUevent event) {
  NodeUse use;
  SharedWork work;
  CU_TRY(new_event(handle, type, event, &use, &work));
  return update_node(exec, handle, std::move(work));
}

/// The note of a memory node, which must be of this type.
CUresult get_memory_note(CUgraphNode handle, CUgraphNodeType type, NodeUse* use,
                         const MemoryNote** out) {
  CU_TRY(use->get(handle));
  *out = memory_note_of(*use->node.work);
  if (*out != nullptr && (*out)->type == type) return CUDA_SUCCESS;
  return other_type();
}

}  // namespace

extern "C" {

CUresult cuGraphAddNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                        size_t count, CUgraphNodeParams* params) {
  return guard(__func__,
               [&] { return add_node(out, graph, dependencies, nullptr, count, params); });
}

CUresult cuGraphAddNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* params) {
  return guard(__func__, [&] { return add_node(out, graph, dependencies, edges, count, params); });
}

CUresult cuGraphAddNode_v3(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* params) {
  return cuGraphAddNode_v2(out, graph, dependencies, edges, count, params);
}

CUresult cuGraphNodeGetParams(CUgraphNode handle, CUgraphNodeParams* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    CU_TRY(use.get(handle));
    return read_params(use, params);
  });
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  return guard(__func__, [&] { return set_params(node, params); });
}

CUresult cuGraphNodeSetParams_v2(CUgraphNode node, CUgraphNodeParams* params) {
  return cuGraphNodeSetParams(node, params);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode handle, CUgraphNodeParams* params) {
  return guard(__func__, [&]() -> CUresult {
    NodeUse use;
    CU_TRY(use.get(handle));
    SharedWork work;
    CU_TRY(new_work_of(use, params, &work));
    return update_node(exec, handle, std::move(work));
  });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                   size_t count, CUevent event) {
  return guard(__func__, [&] {
    return add_event(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
  });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t count, CUevent event) {
  return guard(__func__, [&] {
    return add_event(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
  });
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return guard(__func__, [&] { return get_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event); });
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return guard(__func__, [&] { return get_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event); });
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return guard(__func__, [&] { return set_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event); });
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return guard(__func__, [&] { return set_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event); });
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return guard(__func__,
               [&] { return update_event(exec, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event); });
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return guard(__func__,
               [&] { return update_event(exec, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event); });
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_REQUIRE(params);
    CU_GET(Graph, graph, handle);
    SharedWork work;
    CU_TRY(allocation_work_of(graph->context(), *params, &work));
    return graph->add(dependencies, count, std::move(work), out);
  });
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(params);
    NodeUse use;
    const MemoryNote* note = nullptr;
    CU_TRY(get_memory_note(handle, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &use, &note));
    *params = note->params;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies,
                               size_t count, CUdeviceptr address) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(Graph, graph, handle);
    SharedWork work;
    CU_TRY(free_work_of(address, &work));
    return graph->add(dependencies, count, std::move(work), out);
  });
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* address) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(address);
    NodeUse use;
    const MemoryNote* note = nullptr;
    CU_TRY(get_memory_note(handle, CU_GRAPH_NODE_TYPE_MEM_FREE, &use, &note));
    *address = note->params.dptr;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute,
                                      void* value) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    CU_DEVICE(device, ordinal);
    auto* const out = static_cast<cuuint64_t*>(value);
    switch (attribute) {
      case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
        *out = device->graph_bytes.load();
        return CUDA_SUCCESS;
      case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        *out = device->graph_high_bytes.load();
        return CUDA_SUCCESS;
      default:
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no attribute %d", attribute);
    }
  });
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute,
                                      void* value) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    CU_DEVICE(device, ordinal);
    const bool is_high = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ||
                         attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    if (!is_high || *static_cast<const cuuint64_t*>(value) != 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "high-water marks can be set to 0, nothing else");
    }
    device->graph_high_bytes.store(device->graph_bytes.load());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
  return guard(__func__, [&]() -> CUresult {
    CU_DEVICE(device, ordinal);
    static_cast<void>(device);
    return CUDA_SUCCESS;  // graphs cache no memory beyond their nodes'
  });
}

}  // extern "C"

}  // namespace km::cu
