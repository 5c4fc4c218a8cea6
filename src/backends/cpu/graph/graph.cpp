// Entries of graphs, which build their commands.
#include "backends/cpu/graph/graph.h"
#include "backends/cpu/command/host_task.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "backend/graph_node.h"
#include "backends/cpu/blas/blas.h"
#include "backends/cpu/command/node_transfer.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/launches/device_launches.h"
#include "backends/cpu/launches/host_launch.h"
#include "backends/cpu/launches/updatable_node.h"
#include "backends/cpu/library/library.h"
#include "backends/cpu/order/stream_order.h"
#include "backends/cpu/stream/event.h"
#include "backends/cpu/stream/memory_ops.h"
#include "backends/cpu/stream/stream.h"
#include "backends/cpu/stream/thread_pool.h"
#include "base/callback/callback_thread.h"

namespace km::cpu {
namespace {

/// Builds a node's command by the type of its operation.
class CommandMaker {
 public:
  CommandMaker(Command* command, km_graph_node_kind kind, Context* context, uint64_t graph)
      : command_(command), kind_(kind), context_(context), graph_(graph) {}

  // Nodes without an operation only join and fork.
  Status operator()(const EmptyNode&) const { return {}; }
  Status operator()(const kmb_kernel_node& node) const {
    return prepare_launch(command_, *from(node.function), node.launch, context_);
  }
  Status operator()(const kmb_copy_node& node) const {
    set_transfer() = transfer_of(node, kind_);
    return {};
  }
  Status operator()(const kmb_copy_3d& rows) const {
    set_transfer() = rows_transfer(rows);
    return {};
  }
  Status operator()(const kmb_copy_peer_node& node) const {
    Transfer& transfer = set_transfer();
    transfer.destination = node.destination;
    transfer.source = node.source;
    transfer.size_bytes = node.size_bytes;
    return {};
  }
  Status operator()(const kmb_fill_node& node) const {
    set_transfer() = transfer_of(node);
    return {};
  }
  Status operator()(const kmb_fill_2d& rows) const {
    set_transfer() = rows_transfer(rows);
    return {};
  }
  Status operator()(const kmb_blas_node& node) const {
    KM_ASSIGN(command_->task, make_blas_task(*node.call, context_->pool()->threads()));
    command_->kind = CommandKind::task;
    return {};
  }
  Status operator()(const kmb_library_node& node) const {
    KM_ASSIGN(command_->task, make_library_task(*node.call, context_->pool()->threads()));
    command_->kind = CommandKind::task;
    return {};
  }
  Status operator()(const kmb_task_node& node) const {
    command_->task = make_host_task(*node.task, graph_);
    if (command_->task == nullptr) {
      return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "the host is out of memory for %s in a graph",
                        node.task->name);
    }
    command_->kind = CommandKind::task;
    return {};
  }
  Status operator()(const kmb_host_node& node) const {
    if (!start_callback_thread()) return no_callback_thread();
    command_->kind = CommandKind::callback;
    command_->callback = node.callback;
    command_->user_data = node.user_data;
    return {};
  }
  Status operator()(const kmb_memory_ops_node& node) const {
    KM_ASSIGN(command_->memory_ops, MemoryOps::make({node.ops, node.count}));
    command_->kind = CommandKind::memory;
    return {};
  }
  Status operator()(const kmb_branch& branch) const {
    command_->kind = CommandKind::branch;
    command_->branch = branch;
    return {};
  }
  Status operator()(const EventRecordNode&) const {
    command_->kind = CommandKind::record;
    return {};
  }
  Status operator()(const EventWaitNode&) const {
    command_->kind = CommandKind::wait;
    return {};
  }
  Status operator()(const UnknownNode&) const {
    return make_error(KM_ERROR_NOT_SUPPORTED, "the cpu backend has no graph nodes of kind %d",
                      static_cast<int>(kind_));
  }

 private:
  Transfer& set_transfer() const {
    command_->kind = CommandKind::transfer;
    return command_->transfer;
  }

  Command* const command_;
  const km_graph_node_kind kind_;
  Context* const context_;
  const uint64_t graph_;  // its number
};

/// The event that a node records or waits for; otherwise null.
Event* event_of(const kmb_graph_node& node) {
  const bool has_one =
      node.kind == KMB_GRAPH_NODE_EVENT_RECORD || node.kind == KMB_GRAPH_NODE_EVENT_WAIT;
  return has_one ? from(node.event) : nullptr;
}

Result<std::shared_ptr<GraphNode>> make_node(const kmb_graph_node& node, Context* context,
                                             uint64_t graph) {
  auto made = std::make_shared<GraphNode>();
  KM_TRY(match_node(node, CommandMaker(&made->command, node.kind, context, graph)));
  if (Event* const event = event_of(node)) made->used = event;
  return made;
}

/// The order of the nodes for the checker; null if branches may run them in any order, or if there
/// are too many.
std::shared_ptr<const NodeOrder> order_of(std::span<const kmb_graph_node> nodes) {
  std::vector<std::span<const uint32_t>> dependencies;
  for (const kmb_graph_node& node : nodes) {
    if (node.kind == KMB_GRAPH_NODE_BRANCH) return nullptr;
    dependencies.emplace_back(node.dependencies, node.dependency_count);
  }
  if (nodes.size() > NodeOrder::kMostNodes) return nullptr;
  return std::make_shared<const NodeOrder>(dependencies);
}

/// Moves a host node's user data to the new node.
void take_user_data(GraphNode* made, const kmb_graph_node& node) {
  if (node.kind != KM_GRAPH_NODE_HOST) return;
  made->used.emplace<HostData>(node.host.release, node.host.user_data);
}

}  // namespace

uint64_t Graph::next_number() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Graph::Graph(Context* context) : context_(context), number_(next_number()) { context_->retain(); }

Graph::~Graph() {
  if (use_ != nullptr) context_->device_graphs().remove(program_->device_handle);
  program_.reset();
  context_->release();
}

/// Gives kernels that may launch graphs their execution environment.
void Graph::set_environment(GraphProgram* program) {
  for (const std::shared_ptr<GraphNode>& node : program->nodes) {
    const Command& command = node->command;
    if (command.launches == nullptr) continue;
    if (environment_ == nullptr) environment_ = std::make_shared<GraphEnvironment>();
    program->environment = environment_;
    // Nodes that the previous program shares may be running and have their environment already, so
    // it is set only once.
    auto& root = static_cast<DeviceGrid&>(*command.run.grid);
    if (root.environment() == nullptr) root.set_environment(environment_.get());
  }
}

/// Makes a node with a handle updatable by kernels. `before` is the node that it replaces; null:
/// none.
void Graph::make_updates(GraphNode* made, const kmb_graph_node& node,
                         const GraphNode* before) const {
  if (node.kind != KM_GRAPH_NODE_KERNEL || node.kernel.update_handle == 0) return;
  auto base = std::make_shared<const NodeBase>(node.kernel);
  std::shared_ptr<UpdatableNode> updated;
  if (before != nullptr && before->updates != nullptr) {
    updated = UpdatedLaunch::of(*before->updates).node();
  } else {
    updated = std::make_shared<UpdatableNode>(base);
    context_->device_graphs().nodes().put(node.kernel.update_handle, updated);
  }
  made->updates = std::make_unique<UpdatedLaunch>(std::move(updated), std::move(base));
  made->command.updates = made->updates.get();
}

Result<std::unique_ptr<Graph>> Graph::make(Context* context,
                                           std::span<const kmb_graph_node> nodes) {
  std::unique_ptr<Graph> graph(new Graph(context));
  auto program = std::make_shared<GraphProgram>();
  program->nodes.reserve(nodes.size());
  for (const kmb_graph_node& node : nodes) {
    KM_ASSIGN(std::shared_ptr<GraphNode> made, make_node(node, context, graph->number_));
    program->nodes.push_back(std::move(made));
  }
  program->plan = std::make_shared<GraphPlan>(context, nodes);
  if (StreamOrder::active() != nullptr) program->order = order_of(nodes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    graph->make_updates(program->nodes[i].get(), nodes[i], nullptr);
  }
  for (size_t i = 0; i < nodes.size(); ++i) take_user_data(program->nodes[i].get(), nodes[i]);
  graph->set_environment(program.get());
  program->look_for_updates();
  program->look_for_waits();
  program->collect_events();
  graph->program_ = std::move(program);
  return graph;
}

Status Graph::update(std::span<const uint32_t> indices, std::span<const kmb_graph_node> nodes) {
  auto program = std::make_shared<GraphProgram>(*program_);
  for (size_t i = 0; i < nodes.size(); ++i) {
    KM_ASSIGN(std::shared_ptr<GraphNode> made, make_node(nodes[i], context_, number_));
    make_updates(made.get(), nodes[i], program->nodes[indices[i]].get());
    program->nodes[indices[i]] = std::move(made);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    take_user_data(program->nodes[indices[i]].get(), nodes[i]);
  }
  set_environment(program.get());
  program->look_for_updates();
  program->look_for_waits();
  program->collect_events();
  program_ = std::move(program);
  return {};
}

Status Graph::upload(uint64_t handle, std::span<const kmb_graph_node> nodes) {
  if (use_ == nullptr) {
    auto program = std::make_shared<GraphProgram>(*program_);
    program->device_handle = handle;
    program_ = std::move(program);
    use_ = std::make_shared<DeviceGraphUse>();
  }
  KM_ASSIGN(std::shared_ptr<const DeviceGraph> made,
            DeviceGraph::make(handle, nodes, *program_, use_));
  context_->device_graphs().put(handle, std::move(made));
  return {};
}

km_status graph_create(kmb_context* handle, const kmb_graph_node* nodes, uint64_t node_count,
                       kmb_graph** out_graph, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Context* context = from(handle);
    KM_TRY(context->check());
    KM_ASSIGN(std::unique_ptr<Graph> graph, Graph::make(context, {nodes, node_count}));
    *out_graph = to(graph.release());
    return {};
  });
}

void graph_destroy(kmb_graph* graph) { std::unique_ptr<Graph> last(from(graph)); }

km_status graph_update(kmb_graph* graph, const uint32_t* indices, const kmb_graph_node* nodes,
                       uint64_t count, kmb_error* error) {
  return guarded(error,
                 [&]() -> Status { return from(graph)->update({indices, count}, {nodes, count}); });
}

km_status graph_upload(kmb_graph* graph, uint64_t handle, const kmb_graph_node* nodes,
                       uint64_t node_count, kmb_error* error) {
  return guarded(error,
                 [&]() -> Status { return from(graph)->upload(handle, {nodes, node_count}); });
}

/// Queues a graph command without steps, which only applies the host's changes.
km_status graph_restore(kmb_graph* graph, kmb_stream* handle, uint64_t* out_ticket,
                        kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream* stream = from(handle);
    KM_TRY(stream->context()->check());
    const std::shared_ptr<const GraphProgram> program = from(graph)->program();
    // The command is allocated last, because nothing may fail after it.
    Command* command = new_command(stream, CommandKind::graph);
    command->program = program;
    command->lane = 0;
    command->step = static_cast<uint32_t>(program->nodes.size());
    command->in_turn = true;
    *out_ticket = stream->submit(command);
    return {};
  });
}

km_status graph_launch(kmb_graph* graph, kmb_stream* handle, uint64_t* out_ticket,
                       kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream* stream = from(handle);
    KM_TRY(stream->context()->check());
    const std::shared_ptr<const GraphProgram> program = from(graph)->program();
    const std::shared_ptr<const GraphLaunch> launch = program->begin_launch(stream);
    // The command is allocated last, because nothing may fail after it.
    Command* command = new_command(stream, CommandKind::graph);
    command->program = program;
    command->lane = 0;
    command->step = 0;
    command->events = launch;
    *out_ticket = stream->submit(command);
    // The launch may be over by now, but it only completes its marks. Their tickets are read
    // through the event, whose lock orders this write.
    if (launch) program->record_events(*launch, *out_ticket);
    return {};
  });
}

}  // namespace km::cpu
