// Graphs of the fake backend: their nodes, queued one after the other.
#include "support/core/fake_objects.h"

struct kmb_graph {
  struct Node {
    kmb_graph_node node{};
    std::vector<char> arguments;
    Node() = default;
    ~Node() {
      if (node.release != nullptr) node.release(node.user_data);
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
  const char* bytes = static_cast<const char*>(node.launch.arguments);
  if (bytes != nullptr) copy->arguments.assign(bytes, bytes + node.launch.arguments_size_bytes);
  copy->node.launch.arguments = copy->arguments.data();
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
  (*node)->node.callback((*node)->node.user_data, status);
}

km_status queue_node(kmb_stream* stream, const SharedNode& shared, uint64_t* out_ticket,
                     kmb_error* error) {
  const kmb_backend& table = fake_backend();
  const kmb_graph_node& node = shared->node;
  switch (node.kind) {
    case KM_GRAPH_NODE_KERNEL:
      return table.launch(stream, node.function, &node.launch, out_ticket, error);
    case KM_GRAPH_NODE_COPY:
    case KM_GRAPH_NODE_UPLOAD:
    case KM_GRAPH_NODE_DOWNLOAD:
    case KM_GRAPH_NODE_COPY_PEER:
      return table.copy_on_device(stream, node.destination, node.source, node.size_bytes,
                                  out_ticket, error);
    case KM_GRAPH_NODE_FILL:
      return table.fill(stream, node.destination, node.value, node.value_size_bytes,
                        node.size_bytes / node.value_size_bytes, out_ticket, error);
    case KM_GRAPH_NODE_COPY_3D:
    case KM_GRAPH_NODE_UPLOAD_3D:
    case KM_GRAPH_NODE_DOWNLOAD_3D:
      return table.copy_3d(stream, &node.rows, nullptr, out_ticket, error);
    case KM_GRAPH_NODE_FILL_2D:
      return table.fill_2d(stream, node.destination, node.rows.destination_pitch_bytes, node.value,
                           node.value_size_bytes, node.rows.width_bytes / node.value_size_bytes,
                           node.rows.height, out_ticket, error);
    case KM_GRAPH_NODE_HOST: {
      auto kept = std::make_unique<SharedNode>(shared);
      const km_status status = table.stream_add_callback(stream, call_host, kept.get(), error);
      if (status == KM_SUCCESS) static_cast<void>(kept.release());
      return status;
    }
    default:
      return KM_SUCCESS;
  }
}

km_status graph_launch(kmb_graph* graph, kmb_stream* stream, uint64_t* out_ticket,
                       kmb_error* error) {
  if (const km_status status = check_sticky(stream->context, error)) return status;
  for (const SharedNode& node : graph->nodes) {
    // After a failure only host nodes do something, and hear of it.
    if (queue_node(stream, node, out_ticket, error) == KM_SUCCESS) continue;
    if (node->node.kind == KM_GRAPH_NODE_HOST) {
      node->node.callback(node->node.user_data, check_sticky(stream->context, error));
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
