// Graphs of the fake backend: their nodes, queued one after the other.
#include "backend/graph_node.h"
#include "support/core/fake_objects.h"

struct kmb_graph {
  struct Node {
    kmb_graph_node node{};
    std::vector<char> arguments;
    Node() = default;
    ~Node() {
      if (node.kind == KM_GRAPH_NODE_HOST) node.host.release(node.host.user_data);
    }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
  };
  std::vector<std::shared_ptr<Node>> nodes;
};

namespace km::test {
namespace {

using SharedNode = std::shared_ptr<kmb_graph::Node>;

SharedNode copy_of(const kmb_graph_node& node) {
  const auto copy = std::make_shared<kmb_graph::Node>();
  copy->node = node;
  if (node.kind != KM_GRAPH_NODE_KERNEL) return copy;
  const kmb_launch& launch = node.kernel.launch;
  const char* bytes = static_cast<const char*>(launch.arguments);
  if (bytes != nullptr) copy->arguments.assign(bytes, bytes + launch.arguments_size_bytes);
  copy->node.kernel.launch.arguments = copy->arguments.data();
  return copy;
}

km_status graph_create(kmb_context* context, const kmb_graph_node* nodes, uint64_t node_count,
                       kmb_graph** out_graph, kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  if (const km_status status = check_sticky(context, error)) return status;
  auto graph = std::make_unique<kmb_graph>();
  for (uint64_t i = 0; i < node_count; ++i) graph->nodes.push_back(copy_of(nodes[i]));
  *out_graph = graph.release();
  return KM_SUCCESS;
}

void graph_destroy(kmb_graph* graph) { delete graph; }

km_status graph_update(kmb_graph* graph, const uint32_t* indices, const kmb_graph_node* nodes,
                       uint64_t count, kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  for (uint64_t i = 0; i < count; ++i) graph->nodes[indices[i]] = copy_of(nodes[i]);
  return KM_SUCCESS;
}

/// The node lives until then.
void call_host(void* user_data, km_status status) {
  const std::unique_ptr<SharedNode> node(static_cast<SharedNode*>(user_data));
  const kmb_host_node& host = (*node)->node.host;
  host.callback(host.user_data, status);
}

km_status queue_node(kmb_stream* stream, const SharedNode& shared, uint64_t* out_ticket,
                     kmb_error* error) {
  const kmb_backend& table = fake_backend();
  return match_node(
      shared->node,
      [&](const kmb_kernel_node& node) {
        return table.launch(stream, node.function, &node.launch, out_ticket, error);
      },
      [&](const OneOf<kmb_copy_node, kmb_copy_peer_node> auto& node) {
        return table.copy_on_device(stream, node.destination, node.source, node.size_bytes,
                                    out_ticket, error);
      },
      [&](const kmb_fill_node& node) {
        return table.fill(stream, node.destination, node.value, node.value_size_bytes,
                          node.size_bytes / node.value_size_bytes, out_ticket, error);
      },
      [&](const kmb_copy_3d& rows) {
        return table.copy_3d(stream, &rows, nullptr, out_ticket, error);
      },
      [&](const kmb_fill_2d& rows) {
        return table.fill_2d(stream, rows.destination, rows.pitch_bytes, rows.value,
                             rows.value_size_bytes, rows.width_bytes / rows.value_size_bytes,
                             rows.height, out_ticket, error);
      },
      [&](const kmb_host_node&) {
        auto kept = std::make_unique<SharedNode>(shared);
        const km_status status = table.stream_add_callback(stream, call_host, kept.get(), error);
        if (status == KM_SUCCESS) static_cast<void>(kept.release());
        return status;
      },
      [](const OneOf<EmptyNode, kmb_blas_node, kmb_library_node, kmb_task_node, kmb_memory_ops_node,
                     kmb_branch, EventRecordNode, EventWaitNode, UnknownNode> auto&) {
        return km_status{KM_SUCCESS};
      });
}

km_status graph_launch(kmb_graph* graph, kmb_stream* stream, uint64_t* out_ticket,
                       kmb_error* error) {
  if (const km_status status = check_sticky(stream->context, error)) return status;
  for (const SharedNode& node : graph->nodes) {
    // After a failure only host nodes do something, and hear of it.
    if (queue_node(stream, node, out_ticket, error) == KM_SUCCESS) continue;
    if (node->node.kind == KM_GRAPH_NODE_HOST) {
      node->node.host.callback(node->node.host.user_data, check_sticky(stream->context, error));
    }
  }
  return fake_backend().stream_ticket(stream, out_ticket, error);
}

}  // namespace

void add_graph_entries(kmb_backend* table) {
  table->graph_create = graph_create;
  table->graph_destroy = graph_destroy;
  table->graph_update = graph_update;
  table->graph_launch = graph_launch;
}

}  // namespace km::test
