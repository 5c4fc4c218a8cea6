#include "core/graph/graph_operation.h"

#include <algorithm>
#include <cstring>

#include "api/guard.h"
#include "api/output.h"
#include "base/text.h"

using namespace km;

namespace {

// Returns a list of node numbers. If the buffer is too small, nothing is written.
Status give_list(const std::vector<uint64_t>& list, uint64_t* nodes, uint64_t capacity,
                 uint64_t* out_count) {
  if (capacity != 0) KM_REQUIRE(nodes);
  if (nodes == nullptr) KM_REQUIRE(out_count);
  if (nodes != nullptr && list.size() > capacity) {
    return make_error(KM_ERROR_BUFFER_TOO_SMALL, "there are %zu; capacity is %llu", list.size(),
                      static_cast<unsigned long long>(capacity));
  }
  if (nodes != nullptr) std::copy(list.begin(), list.end(), nodes);
  if (out_count != nullptr) *out_count = list.size();
  return {};
}

/// The node's work if its operation has type T, otherwise an error.
template <class T>
Result<SharedWork> work_with(const Graph& graph, uint64_t node) {
  KM_ASSIGN(GraphNode found, graph.node(node));
  if (found.work->as<T>() != nullptr) return found.work;
  return make_error(KM_ERROR_INVALID_ARGUMENT, "node %llu is of kind %s, not %s",
                    static_cast<unsigned long long>(node), graph_node_kind_name(found.work->kind()),
                    graph_node_kind_name(T::kind()));
}

/// Fills the members of km_graph_node_info that the operation has.
void give_parameters(const GraphOperation& operation, km_graph_node_info* info) {
  match(
      operation,
      [&](const KernelOperation& kernel) {
        std::copy(kernel.shape.grid.begin(), kernel.shape.grid.end(), info->grid);
        std::copy(kernel.shape.block.begin(), kernel.shape.block.end(), info->block);
        info->shared_bytes = kernel.shape.shared_bytes;
        info->arguments_size_bytes = kernel.arguments.size();
      },
      [&](const OneOf<CopyOperation, PeerCopyOperation> auto& copy) {
        info->destination = copy.destination;
        info->source = copy.source;
        info->size_bytes = copy.size_bytes;
      },
      [&](const RowsCopyOperation& copy) {
        info->destination = copy.rows.destination;
        info->source = copy.rows.source;
        info->size_bytes = copy.size_bytes;
      },
      [&](const FillOperation& fill) {
        info->destination = fill.destination;
        info->size_bytes = fill.size_bytes;
        info->value = fill.value;
        info->value_size_bytes = fill.value_size_bytes;
      },
      [&](const RowsFillOperation& fill) {
        info->destination = fill.rows.destination;
        info->size_bytes = fill.size_bytes;
        info->value = fill.rows.value;
        info->value_size_bytes = fill.rows.value_size_bytes;
      },
      [&](const HostOperation& host) {
        info->callback = reinterpret_cast<uint64_t>(host.callback);
        info->user_data = reinterpret_cast<uint64_t>(host.user_data);
      },
      [](const OneOf<EmptyOperation, ChildOperation, BlasOperation, LibraryOperation, TaskOperation,
                     MemoryOpsOperation, EventRecordOperation, EventWaitOperation,
                     ConditionalOperation> auto&) {});
}

km_graph_node_info info_of(const GraphNode& node, uint64_t dependent_count) {
  km_graph_node_info info{};
  info.struct_size = sizeof info;
  info.kind = node.work->kind();
  info.dependency_count = node.dependencies.size();
  info.dependent_count = dependent_count;
  give_parameters(node.work->operation, &info);
  return info;
}

/// The rows of a node that is a copy or fill of rows.
Result<km_copy_3d> rows_of(const GraphNode& node) {
  if (const auto* copy = node.work->as<RowsCopyOperation>()) {
    const kmb_copy_3d& rows = copy->rows;
    return km_copy_3d{rows.width_bytes,
                      rows.height,
                      rows.depth,
                      0,
                      rows.destination_pitch_bytes,
                      rows.destination_layer_rows,
                      0,
                      rows.source_pitch_bytes,
                      rows.source_layer_rows};
  }
  if (const auto* fill = node.work->as<RowsFillOperation>()) {
    const kmb_fill_2d& rows = fill->rows;
    return km_copy_3d{rows.width_bytes, rows.height, 1, 0, rows.pitch_bytes, rows.height, 0, 0, 0};
  }
  return make_error(KM_ERROR_INVALID_ARGUMENT, "node %llu is of kind %s, which has no rows",
                    static_cast<unsigned long long>(node.id),
                    graph_node_kind_name(node.work->kind()));
}

}  // namespace

km_status km_graph_create(km_context context, km_graph* out_graph) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_graph);
    return give_handle(make_ref<Graph>(*target), out_graph);
  });
}

km_status km_graph_destroy(km_graph graph) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(graph, "graph"); });
}

km_status km_graph_clone(km_graph graph, km_graph* out_graph) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    KM_REQUIRE(out_graph);
    return give_handle(target->clone(), out_graph);
  });
}

km_status km_graph_remove_node(km_graph graph, uint64_t node) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    return target->remove(node);
  });
}

km_status km_graph_add_dependency(km_graph graph, uint64_t from, uint64_t to) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    return target->add_dependency(from, to);
  });
}

km_status km_graph_remove_dependency(km_graph graph, uint64_t from, uint64_t to) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    return target->remove_dependency(from, to);
  });
}

km_status km_graph_nodes(km_graph graph, uint64_t* nodes, uint64_t capacity,
                         uint64_t* out_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    std::vector<uint64_t> list;
    for (const GraphNode& node : target->nodes()) list.push_back(node.id);
    return give_list(list, nodes, capacity, out_count);
  });
}

km_status km_graph_node_dependencies(km_graph graph, uint64_t node, uint64_t* nodes,
                                     uint64_t capacity, uint64_t* out_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    KM_ASSIGN(const GraphNode found, target->node(node));
    return give_list(found.dependencies, nodes, capacity, out_count);
  });
}

km_status km_graph_node_dependents(km_graph graph, uint64_t node, uint64_t* nodes,
                                   uint64_t capacity, uint64_t* out_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    KM_ASSIGN(const std::vector<uint64_t> found, target->dependents(node));
    return give_list(found, nodes, capacity, out_count);
  });
}

km_status km_graph_node_info_get(km_graph graph, uint64_t node,
                                 km_graph_node_info* out_info) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    KM_REQUIRE(out_info);
    KM_ASSIGN(const GraphNode found, target->node(node));
    KM_ASSIGN(const std::vector<uint64_t> dependents, target->dependents(node));
    return give_struct(info_of(found, dependents.size()), out_info, "out_info");
  });
}

km_status km_graph_node_arguments(km_graph graph, uint64_t node, void* buffer,
                                  uint64_t capacity_bytes, uint64_t* out_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    if (capacity_bytes != 0) KM_REQUIRE(buffer);
    if (buffer == nullptr) KM_REQUIRE(out_size_bytes);
    KM_ASSIGN(const SharedWork work, work_with<KernelOperation>(*target, node));
    const std::vector<std::byte>& arguments = work->as<KernelOperation>()->arguments;
    const uint64_t size = arguments.size();
    if (buffer != nullptr && size > capacity_bytes) {
      return make_error(KM_ERROR_BUFFER_TOO_SMALL, "the arguments have %s",
                        counted(size, "byte").c_str());
    }
    if (buffer != nullptr && size != 0) std::memcpy(buffer, arguments.data(), size);
    if (out_size_bytes != nullptr) *out_size_bytes = size;
    return {};
  });
}

km_status km_graph_node_function(km_graph graph, uint64_t node,
                                 km_function* out_function) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    KM_REQUIRE(out_function);
    KM_ASSIGN(const SharedWork work, work_with<KernelOperation>(*target, node));
    return give_handle(Ref<Function>(work->as<KernelOperation>()->function), out_function);
  });
}

km_status km_graph_node_child(km_graph graph, uint64_t node, km_graph* out_graph) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    KM_REQUIRE(out_graph);
    KM_ASSIGN(const SharedWork work, work_with<ChildOperation>(*target, node));
    return give_handle(work->child()->clone(), out_graph);
  });
}

km_status km_graph_node_rows(km_graph graph, uint64_t node, km_copy_3d* out_copy) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    KM_REQUIRE(out_copy);
    KM_ASSIGN(const GraphNode found, target->node(node));
    KM_ASSIGN(*out_copy, rows_of(found));
    return {};
  });
}

km_status km_graph_dot(km_graph graph, char* buffer, uint64_t capacity_bytes,
                       uint64_t* out_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    return give_text(graph_to_dot(*target), buffer, capacity_bytes, out_size_bytes);
  });
}
