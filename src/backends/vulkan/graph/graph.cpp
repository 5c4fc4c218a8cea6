// Graphs: each launch queues the nodes' steps again, in their order, as one operation of a stream.
#include <memory>
#include <vector>

#include "backend/graph_node.h"
#include "backends/vulkan/driver/driver_interface.h"
#include "backends/vulkan/memory/copy.h"
#include "backends/vulkan/memory/fill.h"
#include "backends/vulkan/memory/memory_ops.h"
#include "backends/vulkan/module/launch.h"
#include "backends/vulkan/stream/context.h"
#include "backends/vulkan/stream/event.h"
#include "base/callback/callback_thread.h"

namespace km::vulkan {
namespace {

using Steps = std::vector<Step>;
/// Makes the steps of one node for a launch in a stream, and keeps what they need.
using Node = std::function<Result<Steps>(Stream&)>;

Result<Steps> one(Result<Step> step) {
  if (!step) return std::move(step.error());
  Steps steps;
  steps.push_back(std::move(*step));
  return steps;
}

Error no_such_nodes(const char* what) {
  return make_error(KM_ERROR_NOT_SUPPORTED, "graphs on %s devices have no %s",
                    driver_interface().title, what);
}

Result<Node> kernel_node(const kmb_kernel_node& kernel) {
  Function* const function = from(kernel.function);
  KM_TRY(check_launch(*function, kernel.launch));
  const auto* const bytes = static_cast<const uint8_t*>(kernel.launch.arguments);
  const auto arguments = std::make_shared<const std::vector<uint8_t>>(
      bytes, bytes + kernel.launch.arguments_size_bytes);
  return Node([function, arguments, launch = kernel.launch](Stream& stream) mutable {
    launch.arguments = arguments->data();
    return launch_steps(stream, *function, launch);
  });
}

/// The host's side of a node is read and written when the node runs.
kmb_copy_3d in_order(kmb_copy_3d copy) {
  for (uint32_t* const space : {&copy.source_space, &copy.destination_space}) {
    if (*space == KMB_SPACE_HOST) *space = KMB_SPACE_HOST_PINNED;
  }
  return copy;
}

Node copy_node(const kmb_copy_3d& copy) {
  return [copy = in_order(copy)](Stream& stream) { return one(copy_step(stream, copy)); };
}

Node bytes_node(km_graph_node_kind kind, const kmb_copy_node& copy) {
  const auto space = [&](km_graph_node_kind of_host) -> uint32_t {
    return kind == of_host ? KMB_SPACE_HOST_PINNED : KMB_SPACE_DEVICE;
  };
  return copy_node(copy_of_bytes(copy.destination, space(KM_GRAPH_NODE_DOWNLOAD), copy.source,
                                 space(KM_GRAPH_NODE_UPLOAD), copy.size_bytes));
}

Node fill_node(const Fill& fill) {
  return [fill](Stream& stream) { return one(fill_step(stream, fill)); };
}

/// A host node's data, which is released on the thread for callbacks when nothing uses it.
struct HostData {
  explicit HostData(const kmb_host_node& given) : node(given) {}
  ~HostData() {
    if (node.release == nullptr) return;
    post_callback({.call = [node = node] { node.release(node.user_data); }, .then = {}});
  }
  HostData(const HostData&) = delete;
  HostData& operator=(const HostData&) = delete;
  const kmb_host_node node;
};

Result<Node> host_node(const kmb_host_node& host) {
  if (!start_callback_thread()) return no_callback_thread();
  const auto data = std::make_shared<const HostData>(host);
  return Node([data](Stream&) -> Result<Steps> {
    Step step;
    step.follows_all = true;
    step.callback = [data](km_status status) { data->node.callback(data->node.user_data, status); };
    return one(std::move(step));
  });
}

Node memory_ops_node(const kmb_memory_ops_node& given) {
  const std::vector<kmb_memory_op> ops(given.ops, given.ops + given.count);
  return [ops](Stream& stream) { return memory_op_steps(stream, ops); };
}

Node record_node(Event* event) {
  return [event](Stream& stream) { return one(event->record(stream)); };
}

Node wait_node(const Event* event) {
  return [event](Stream&) { return one(wait_for_mark(event->latest())); };
}

// tidy: function: one case for each kind of node
Result<Node> make_node(const kmb_graph_node& node) {
  return match_node(
      node,
      [](const EmptyNode&) -> Result<Node> { return Node([](Stream&) { return one(Step{}); }); },
      [](const kmb_kernel_node& kernel) { return kernel_node(kernel); },
      [&](const kmb_copy_node& copy) -> Result<Node> { return bytes_node(node.kind, copy); },
      [](const kmb_copy_3d& rows) -> Result<Node> { return copy_node(rows); },
      [](const kmb_copy_peer_node& peer) -> Result<Node> {
        return Node([peer](Stream&) { return one(peer_copy_step(peer)); });
      },
      [](const kmb_fill_node& fill) -> Result<Node> {
        return fill_node({.destination = fill.destination,
                          .pitch_bytes = 0,
                          .value = fill.value,
                          .value_size_bytes = fill.value_size_bytes,
                          .width_count = fill.size_bytes / fill.value_size_bytes,
                          .height = 1});
      },
      [](const kmb_fill_2d& fill) -> Result<Node> {
        return fill_node({.destination = fill.destination,
                          .pitch_bytes = fill.pitch_bytes,
                          .value = fill.value,
                          .value_size_bytes = fill.value_size_bytes,
                          .width_count = fill.width_bytes / fill.value_size_bytes,
                          .height = fill.height});
      },
      [](const kmb_host_node& host) { return host_node(host); },
      [](const kmb_blas_node&) -> Result<Node> { return no_such_nodes("BLAS"); },
      [](const kmb_library_node&) -> Result<Node> { return no_such_nodes("libraries"); },
      [](const kmb_task_node&) -> Result<Node> { return no_such_nodes("tasks of the host"); },
      [](const kmb_memory_ops_node& ops) -> Result<Node> { return memory_ops_node(ops); },
      [](const EventRecordNode& record) -> Result<Node> { return record_node(from(record.event)); },
      [](const EventWaitNode& wait) -> Result<Node> { return wait_node(from(wait.event)); },
      [](const kmb_branch&) -> Result<Node> { return no_such_nodes("conditional nodes"); },
      [](const UnknownNode&) -> Result<Node> { return no_such_nodes("nodes of this kind"); });
}

Result<std::vector<Node>> make_nodes(const kmb_graph_node* nodes, uint64_t count) {
  std::vector<Node> made;
  for (uint64_t i = 0; i < count; ++i) {
    KM_ASSIGN(Node node, make_node(nodes[i]));
    made.push_back(std::move(node));
  }
  return made;
}

}  // namespace

/// The nodes of a graph as they are now. Steps of launches keep what they use.
class Graph {
 public:
  explicit Graph(std::vector<Node> nodes) : nodes_(std::move(nodes)) {}

  void update(const uint32_t* indices, std::vector<Node> nodes) {
    for (size_t i = 0; i < nodes.size(); ++i) std::swap(nodes_[indices[i]], nodes[i]);
  }
  Result<Steps> steps(Stream& stream) const {
    Steps all;
    for (const Node& node : nodes_) {
      KM_ASSIGN(Steps steps, node(stream));
      for (Step& step : steps) all.push_back(std::move(step));
    }
    if (all.empty()) all.emplace_back();
    return all;
  }

 private:
  std::vector<Node> nodes_;
};

km_status graph_create(kmb_context* context, const kmb_graph_node* nodes, uint64_t node_count,
                       kmb_graph** out_graph, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_TRY(from(context)->workspace()->epoch->require_alive());
    KM_ASSIGN(std::vector<Node> made, make_nodes(nodes, node_count));
    *out_graph = to(std::make_unique<Graph>(std::move(made)).release());
    return {};
  });
}

void graph_destroy(kmb_graph* graph) { const std::unique_ptr<Graph> last(from(graph)); }

km_status graph_update(kmb_graph* graph, const uint32_t* indices, const kmb_graph_node* nodes,
                       uint64_t count, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(std::vector<Node> made, make_nodes(nodes, count));
    from(graph)->update(indices, std::move(made));
    return {};
  });
}

km_status graph_launch(kmb_graph* graph, kmb_stream* stream, uint64_t* out_ticket,
                       kmb_error* error) {
  return enqueue(stream, out_ticket, error,
                 [&](Stream& target) { return from(graph)->steps(target); });
}

}  // namespace km::vulkan
