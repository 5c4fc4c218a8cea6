#include "core/graph/graph.h"

#include <algorithm>
#include <cstring>

#include "api/guard.h"
#include "api/output.h"
#include "base/text.h"

using namespace km;

namespace {

// Numbers to the caller. With a buffer that is too small, nothing is written.
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

Result<SharedWork> work_of_kind(const Graph& graph, uint64_t node, km_graph_node_kind kind) {
  KM_ASSIGN(GraphNode found, graph.node(node));
  if (found.work->kind == kind) return found.work;
  return make_error(KM_ERROR_INVALID_ARGUMENT, "node %llu is of kind %s, not %s",
                    static_cast<unsigned long long>(node), graph_node_kind_name(found.work->kind),
                    graph_node_kind_name(kind));
}

km_graph_node_info info_of(const GraphNode& node, uint64_t dependent_count) {
  const GraphWork& work = *node.work;
  km_graph_node_info info{};
  info.struct_size = sizeof info;
  info.kind = work.kind;
  info.dependency_count = node.dependencies.size();
  info.dependent_count = dependent_count;
  std::copy(work.shape.grid.begin(), work.shape.grid.end(), info.grid);
  std::copy(work.shape.block.begin(), work.shape.block.end(), info.block);
  info.shared_bytes = work.shape.shared_bytes;
  info.arguments_size_bytes = work.arguments.size();
  info.destination = work.destination;
  info.source = work.source;
  info.size_bytes = work.size_bytes;
  info.value = work.value;
  info.value_size_bytes = work.value_size_bytes;
  info.callback = reinterpret_cast<uint64_t>(work.callback);
  info.user_data = reinterpret_cast<uint64_t>(work.user_data);
  return info;
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
    KM_ASSIGN(const SharedWork work, work_of_kind(*target, node, KM_GRAPH_NODE_KERNEL));
    const uint64_t size = work->arguments.size();
    if (buffer != nullptr && size > capacity_bytes) {
      return make_error(KM_ERROR_BUFFER_TOO_SMALL, "the arguments have %s",
                        counted(size, "byte").c_str());
    }
    if (buffer != nullptr && size != 0) std::memcpy(buffer, work->arguments.data(), size);
    if (out_size_bytes != nullptr) *out_size_bytes = size;
    return {};
  });
}

km_status km_graph_node_function(km_graph graph, uint64_t node,
                                 km_function* out_function) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    KM_REQUIRE(out_function);
    KM_ASSIGN(const SharedWork work, work_of_kind(*target, node, KM_GRAPH_NODE_KERNEL));
    return give_handle(Ref<Function>(work->function), out_function);
  });
}

km_status km_graph_node_child(km_graph graph, uint64_t node, km_graph* out_graph) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    KM_REQUIRE(out_graph);
    KM_ASSIGN(const SharedWork work, work_of_kind(*target, node, KM_GRAPH_NODE_CHILD));
    return give_handle(work->child->clone(), out_graph);
  });
}

km_status km_graph_node_rows(km_graph graph, uint64_t node, km_copy_3d* out_copy) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    KM_REQUIRE(out_copy);
    KM_ASSIGN(const GraphNode found, target->node(node));
    const GraphWork& work = *found.work;
    if (work.kind < KM_GRAPH_NODE_COPY_3D || work.kind > KM_GRAPH_NODE_FILL_2D) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "node %llu is of kind %s, which has no rows",
                        static_cast<unsigned long long>(node), graph_node_kind_name(work.kind));
    }
    const kmb_copy_3d& rows = work.rows;
    *out_copy = {rows.width_bytes,
                 rows.height,
                 rows.depth,
                 0,
                 rows.destination_pitch_bytes,
                 rows.destination_layer_rows,
                 0,
                 rows.source_pitch_bytes,
                 rows.source_layer_rows};
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
