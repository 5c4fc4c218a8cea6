#include "dropin/cuda/graph/graph_conditional.h"

#include <algorithm>

#include "base/assert.h"
#include "core/graph/graph_work.h"
#include "dropin/cuda/graph/graph_memory.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

constexpr unsigned kMaxBodies = 1 << 16;

struct ConditionalNote : NodeNote {
  std::shared_ptr<ConditionalValue> value;
  CUDA_CONDITIONAL_NODE_PARAMS params;
  ~ConditionalNote() {
    KM_ASSERT(value->is_used().load(), "a node uses its value until its end");
    value->is_used().store(false);
  }
};

struct Known {
  std::mutex mutex;
  std::map<CUgraphConditionalHandle, std::weak_ptr<ConditionalValue>> by_handle;
};

Known& known() {
  static Known& all = *new Known;  // never destroyed: calls may come during exit
  return all;
}

std::shared_ptr<ConditionalValue> find_value(CUgraphConditionalHandle handle) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().by_handle.find(handle);
  return found != known().by_handle.end() ? found->second.lock() : nullptr;
}

CUresult check_size(const CUDA_CONDITIONAL_NODE_PARAMS& params) {
  switch (params.type) {
    case CU_GRAPH_COND_TYPE_IF:
      if (params.size == 1 || params.size == 2) return CUDA_SUCCESS;
      break;
    case CU_GRAPH_COND_TYPE_WHILE:
      if (params.size == 1) return CUDA_SUCCESS;
      break;
    case CU_GRAPH_COND_TYPE_SWITCH:
      if (params.size > kMaxBodies) {
        return fail(CUDA_ERROR_OUT_OF_MEMORY, "%u graphs; at most %u", params.size, kMaxBodies);
      }
      if (params.size != 0) return CUDA_SUCCESS;
      break;
    default:
      return fail(CUDA_ERROR_INVALID_VALUE, "there are no conditional nodes of type %d",
                  params.type);
  }
  return fail(CUDA_ERROR_INVALID_VALUE, "a conditional node of type %d cannot have %u graphs",
              params.type, params.size);
}

ConditionalOperation::Kind kind_of(CUgraphConditionalNodeType type) {
  switch (type) {
    case CU_GRAPH_COND_TYPE_WHILE:
      return ConditionalOperation::Kind::kWhile;
    case CU_GRAPH_COND_TYPE_SWITCH:
      return ConditionalOperation::Kind::kSwitch;
    default:
      return ConditionalOperation::Kind::kIf;
  }
}

/// True if the body of a conditional node may contain a node of this type.
bool may_be_within(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_EMPTY ||
         type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_MEMSET ||
         type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

CUgraphInstantiateResult check_nodes(const km::Graph& graph, bool is_within) {
  for (const km::GraphNode& node : graph.nodes()) {
    if (is_within && !may_be_within(type_of(*node.work))) {
      static_cast<void>(fail(CUDA_ERROR_INVALID_VALUE,
                             "a graph within a conditional node has one of type %d",
                             type_of(*node.work)));
      return CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
    }
    if (const km::Graph* child = node.work->child()) {
      const CUgraphInstantiateResult found = check_nodes(*child, is_within);
      if (found != CUDA_GRAPH_INSTANTIATE_SUCCESS) return found;
    }
    const auto* const conditional = node.work->as<ConditionalOperation>();
    if (conditional == nullptr) continue;
    for (const Ref<km::Graph>& body : conditional->bodies) {
      const CUgraphInstantiateResult found = check_nodes(*body, true);
      if (found != CUDA_GRAPH_INSTANTIATE_SUCCESS) return found;
    }
  }
  return CUDA_GRAPH_INSTANTIATE_SUCCESS;
}

}  // namespace

ConditionalValue::ConditionalValue(Ref<km::Memory> memory, CUgraph graph, unsigned default_value,
                                   unsigned flags)
    : memory_(std::move(memory)), graph_(graph), default_value_(default_value), flags_(flags) {}

CUresult ConditionalValue::create(Graph& graph, unsigned default_value, unsigned flags,
                                  std::shared_ptr<ConditionalValue>* out) {
  CU_ASSIGN(Ref<km::Memory> memory,
            km::Memory::create(*graph.context().core(), nullptr, sizeof default_value, true, 1,
                               KM_ALLOCATION_DEVICE));
  std::shared_ptr<ConditionalValue> made(  // tidy: new: belongs to the shared_ptr around it
      new ConditionalValue(std::move(memory), handle_of(graph), default_value, flags));
  const std::lock_guard lock(known().mutex);
  KM_ASSERT(!known().by_handle.contains(made->handle()), "the address of a value is unique");
  known().by_handle[made->handle()] = made;
  *out = std::move(made);
  return CUDA_SUCCESS;
}

ConditionalValue::~ConditionalValue() {
  const std::lock_guard lock(known().mutex);
  known().by_handle.erase(handle());
}

CUresult conditional_work_of(Graph& graph, const CUDA_CONDITIONAL_NODE_PARAMS& params,
                             SharedWork* out) {
  CU_TRY(check_size(params));
  const std::shared_ptr<ConditionalValue> value = find_value(params.handle);
  if (!value || value->graph() != handle_of(graph)) {
    return fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is not a conditional handle of the graph",
                params.handle);
  }
  if (params.ctx != handle_of(graph.context())) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the node and its handle are of different contexts");
  }
  ConditionalOperation conditional;
  conditional.condition = kind_of(params.type);
  conditional.has_default = value->has_default();
  conditional.default_value = value->default_value();
  for (unsigned i = 0; i < params.size; ++i) {
    conditional.bodies.push_back(make_ref<km::Graph>(*graph.context().core()));
  }
  if (value->is_used().exchange(true)) {
    return fail(CUDA_ERROR_INVALID_VALUE, "a node has the conditional handle already");
  }
  auto note = std::make_shared<ConditionalNote>();
  note->type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  note->value = value;
  note->params = params;
  note->params.ctx = handle_of(graph.context());
  *out = conditional_work(value->memory(), std::move(conditional),
                          as_note<ConditionalNote>(std::move(note)));
  return CUDA_SUCCESS;
}

CUDA_CONDITIONAL_NODE_PARAMS read_conditional(Graph& graph, uint64_t node, const SharedWork& work) {
  KM_ASSERT(note_of(*work) != nullptr && note_of(*work)->type == CU_GRAPH_NODE_TYPE_CONDITIONAL,
            "a conditional node has the note of one");
  auto params = static_cast<const ConditionalNote*>(note_of(*work))->params;
  params.phGraph_out = graph.bodies_of(node, work);
  return params;
}

CUgraphInstantiateResult check_conditionals(Graph& graph) {
  if (graph.has_unused_value()) {
    static_cast<void>(fail(CUDA_ERROR_INVALID_VALUE, "no node has a handle of the graph's"));
    return CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
  }
  return check_nodes(graph.core(), false);
}

bool has_conditionals(const km::Graph& graph) {
  const std::vector<km::GraphNode> nodes = graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [](const km::GraphNode& node) {
    const km::Graph* const child = node.work->child();
    return node.work->as<ConditionalOperation>() != nullptr ||
           (child != nullptr && has_conditionals(*child));
  });
}

bool is_unique(const km::Graph& graph) {
  const std::vector<km::GraphNode> nodes = graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [](const km::GraphNode& node) {
    const km::Graph* const child = node.work->child();
    return node.work->as<ConditionalOperation>() != nullptr ||
           memory_note_of(*node.work) != nullptr || node.work->is_updatable() ||
           (child != nullptr && is_unique(*child));
  });
}

}  // namespace km::dropin
