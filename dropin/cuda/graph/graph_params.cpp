// CUgraphNodeParams: node parameters of every type.
#include "dropin/cuda/graph/graph_params.h"

#include <algorithm>

#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"
#include "dropin/cuda/graph/graph_conditional.h"
#include "dropin/cuda/graph/graph_memory.h"
#include "dropin/cuda/graph/memory_ops.h"
#include "dropin/cuda/stream/stream.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

struct EventNote : NodeNote {
  CUevent event;
};

CUDA_MEMSET_NODE_PARAMS older(const CUDA_MEMSET_NODE_PARAMS_v2& params) {
  return {params.dst, params.pitch, params.value, params.elementSize, params.width, params.height};
}

CUresult child_work_of(const CUDA_CHILD_GRAPH_NODE_PARAMS& params, Graph* parent, SharedWork* out) {
  // only new nodes can move a child: move_child()
  if (params.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
    return fail(CUDA_ERROR_INVALID_VALUE, "a graph cannot be moved into a node that has one");
  }
  if (params.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE) {
    return fail(CUDA_ERROR_INVALID_VALUE, "there is no ownership %d", params.ownership);
  }
  return child_graph_work_of(params.graph, parent, out);
}

CUresult other_work_of(Context& context, CUgraphNodeParams& params, Graph* parent,
                       SharedWork* out) {
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_EMPTY:
      *out = empty_work();
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return event_work_of(context, params.type, params.eventRecord.event, out);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return event_work_of(context, params.type, params.eventWait.event, out);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return allocation_work_of(context, params.alloc, out);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return free_work_of(params.free.dptr, out);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return memory_ops_work_of(context, params.memOp, out);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      if (parent != nullptr) return conditional_work_of(*parent, params.conditional, out);
      return fail(CUDA_ERROR_INVALID_VALUE, "conditional nodes stay as they are");
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return fail(CUDA_ERROR_NOT_SUPPORTED, "there are no external semaphores");
    default:
      return fail(CUDA_ERROR_INVALID_VALUE, "there are no nodes of type %d", params.type);
  }
}

CUresult check_reserved(const CUgraphNodeParams& params) {
  const bool is_clear =
      std::all_of(params.reserved0, params.reserved0 + 3, [](int value) { return value == 0; }) &&
      params.reserved2 == 0;
  return is_clear ? CUDA_SUCCESS
                  : fail(CUDA_ERROR_INVALID_VALUE, "reserved parts of the parameters are not 0");
}

}  // namespace

CUresult check_edges(const CUgraphEdgeData* edges, size_t count) {
  for (size_t i = 0; edges != nullptr && i < count; ++i) {
    if (edges[i].type == 0 && edges[i].from_port == 0 && edges[i].to_port == 0) continue;
    return fail(CUDA_ERROR_NOT_SUPPORTED,
                "nodes can start only after the whole of their predecessors");
  }
  return CUDA_SUCCESS;
}

CUresult child_graph_work_of(CUgraph handle, Graph* parent, SharedWork* out) {
  CU_GET(Graph, child, handle);
  if (is_unique(child->core())) {
    return fail(CUDA_ERROR_NOT_SUPPORTED,
                "a graph that allocates, decides or is changed by kernels cannot be cloned");
  }
  if (parent != nullptr) parent->keep_all_of(*child);
  *out = child_work(child->core().clone_as_child());
  return CUDA_SUCCESS;
}

CUresult move_child(Graph& graph, const CUgraphNode* dependencies, size_t count, CUgraph handle,
                    CUgraphNode* out) {
  CU_GET(Graph, child, handle);
  if (child.get() == &graph || child->is_part() || child->is_claimed()) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "the child is a part of a graph already, or is instantiated");
  }
  if (&child->context() != &graph.context()) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the child and the graph are of different contexts");
  }
  if (has_conditionals(child->core())) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "a graph with conditional nodes cannot be a child");
  }
  CU_TRY(graph.add(dependencies, count, child_work(Ref<km::Graph>::share(child->core())), out));
  const Pin<GraphNode> node(*out);
  graph.take_child(node->node(), *child);
  return CUDA_SUCCESS;
}

CUresult event_work_of(Context& context, CUgraphNodeType type, CUevent handle, SharedWork* out) {
  CU_GET(Event, event, handle);
  if (&event->context() != &context) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the event and the graph are of different contexts");
  }
  if (event->shared() != nullptr) {  // a node's record would not reach other processes
    return fail(CUDA_ERROR_NOT_SUPPORTED,
                "nodes for events that are shared between processes are not supported");
  }
  auto work = std::make_shared<GraphWork>();
  if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
    work->operation = EventRecordOperation{Ref<km::Event>::share(event->core())};
  } else {
    work->operation = EventWaitOperation{Ref<km::Event>::share(event->core())};
  }
  auto note = std::make_shared<EventNote>();
  note->type = type;
  note->event = handle;
  work->note = as_note<EventNote>(std::move(note));
  *out = std::move(work);
  return CUDA_SUCCESS;
}

CUresult capture_event(Stream& stream, CUgraphNodeType type, CUevent event) {
  SharedWork work;
  CU_TRY(event_work_of(stream.context(), type, event, &work));
  CU_CHECK(capture_work(stream.core(), work));
  return CUDA_SUCCESS;
}

CUevent event_of(const GraphWork& work) {
  return static_cast<const EventNote*>(note_of(work))->event;
}

CUresult work_of(Context& context, CUgraphNodeParams& params, const GraphWork* old, Graph* parent,
                 SharedWork* out) {
  CU_TRY(check_reserved(params));
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return kernel_work_of(params.kernel, old, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      if (params.memcpy.flags != 0) {
        return fail(CUDA_ERROR_INVALID_VALUE, "flags is %d; it must be 0", params.memcpy.flags);
      }
      return memcpy_work_of(context, params.memcpy.copyParams, old, out);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return memset_work_of(context, older(params.memset), old, out);
    case CU_GRAPH_NODE_TYPE_HOST:
      return host_work_of(context, {params.host.fn, params.host.userData}, out);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return child_work_of(params.graph, parent, out);
    default:
      return other_work_of(context, params, parent, out);
  }
}

CUresult read_params(NodeUse& use, CUgraphNodeParams* out) {
  const GraphWork& work = *use.node.work;
  const CUcontext context = handle_of(use.graph->context());
  CUgraphNodeParams made{};
  made.type = type_of(work);
  switch (made.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      CU_TRY(read_kernel(*use.pinned, use.node.work, &made.kernel));
      made.kernel.ctx = context;
      break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      made.memcpy = {0, 0, context, read_memcpy(work)};
      break;
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS read = read_memset(work);
      made.memset = {read.dst,   read.pitch,  read.value, read.elementSize,
                     read.width, read.height, context};
      break;
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS read = read_host(use.node.work);
      made.host = {read.fn, read.userData, CU_HOST_TASK_BLOCKING, context};
      break;
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      made.graph = {use.graph->child_of(use.node.id, use.node.work),
                    CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID};
      break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      made.eventRecord = {event_of(work), context};
      break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      made.eventWait = {event_of(work)};
      break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      made.alloc = memory_note_of(work)->params;
      break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      made.free = {memory_note_of(work)->params.dptr};
      break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      made.memOp = read_memory_ops(work);
      made.memOp.ctx = context;
      break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      made.conditional = read_conditional(*use.graph, use.node.id, use.node.work);
      break;
    default:
      break;  // an empty node has no parameters
  }
  *out = made;
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
