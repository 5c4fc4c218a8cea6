// Entries of graphs, and how their commands are made and run.
#include "backends/cpu/graph/graph.h"

#include <algorithm>
#include <memory>

#include "backend/graph_node.h"
#include "backends/cpu/blas/blas.h"
#include "backends/cpu/command/node_transfer.h"
#include "backends/cpu/command/work.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/launches/device_launches.h"
#include "backends/cpu/launches/launch.h"
#include "backends/cpu/launches/updatable_node.h"
#include "backends/cpu/stream/event.h"
#include "backends/cpu/stream/marker.h"
#include "backends/cpu/stream/memory_ops.h"
#include "backends/cpu/stream/stream.h"
#include "backends/cpu/stream/thread_pool.h"
#include "backends/cpu/threads/callback_thread.h"

namespace km::cpu {
namespace {

/// Makes the command of a node, by the type of its operation.
class CommandMaker {
 public:
  CommandMaker(Command* command, km_graph_node_kind kind, Context* context)
      : command_(command), kind_(kind), context_(context) {}

  // Nodes without an operation join and fork only.
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
};

/// The event that a node records or waits for, else null.
Event* event_of(const kmb_graph_node& node) {
  const bool has_one =
      node.kind == KMB_GRAPH_NODE_EVENT_RECORD || node.kind == KMB_GRAPH_NODE_EVENT_WAIT;
  return has_one ? from(node.event) : nullptr;
}

Result<std::shared_ptr<GraphNode>> make_node(const kmb_graph_node& node, Context* context) {
  auto made = std::make_shared<GraphNode>();
  KM_TRY(match_node(node, CommandMaker(&made->command, node.kind, context)));
  if (Event* const event = event_of(node)) made->used = event;
  return made;
}

/// Makes the node the owner of a host node's user data.
void take_user_data(GraphNode* made, const kmb_graph_node& node) {
  if (node.kind != KM_GRAPH_NODE_HOST) return;
  made->used.emplace<HostData>(node.host.release, node.host.user_data);
}

}  // namespace

Command* GraphProgram::step_of(const Command& front) const {
  if (front.in_turn) return front.step < nodes.size() ? &nodes[front.step]->command : nullptr;
  const std::vector<GraphPlan::Step>& lane = plan->lane(front.lane);
  if (front.step >= lane.size()) return nullptr;
  const GraphPlan::Step& step = lane[front.step];
  return step.sync != nullptr ? step.sync : &nodes[step.node]->command;
}

bool GraphProgram::advance(Command* front) const {
  const size_t count = front->in_turn ? nodes.size() : plan->lane(front->lane).size();
  return ++front->step < count;
}

void GraphProgram::take_branch(Command* front, const kmb_branch& branch, bool ends) const {
  const auto go_to = [&](uint64_t node) { front->step = static_cast<uint32_t>(node) - 1; };
  if (ends) return go_to(nodes.size());
  if (branch.address != 0) {
    // Kernels of steps before wrote it.
    const auto value = *reinterpret_cast<const volatile uint32_t*>(branch.address);
    if ((value == branch.value) != (branch.if_equal != 0)) return;
  }
  go_to(branch.target);
}

void GraphProgram::set_environment() {
  for (const std::shared_ptr<GraphNode>& node : nodes) {
    DeviceLaunches* const launches = node->command.launches.get();
    if (launches == nullptr) continue;
    if (environment == nullptr) environment = std::make_shared<GraphEnvironment>();
    // Nodes of the program before may be running.
    DeviceGrid& root = launches->root();
    if (root.environment() == nullptr) root.set_environment(environment.get());
  }
}

bool GraphProgram::begin_tails(Command* front, Context* context) const {
  if (environment == nullptr || front->lane != 0) return false;
  std::vector<DeviceWork> tails = environment->take_tails();
  if (tails.empty()) return false;
  front->launches = std::make_unique<DeviceLaunches>(context, nullptr);
  front->has_more = true;
  front->launches->root().add_all(std::move(tails));
  return true;
}

void GraphProgram::look_for_updates() {
  has_updates = std::any_of(nodes.begin(), nodes.end(), [](const std::shared_ptr<GraphNode>& node) {
    return node->updates != nullptr;
  });
}

void GraphProgram::begin_updates() const {
  if (!has_updates) return;
  for (const std::shared_ptr<GraphNode>& node : nodes) {
    if (node->updates != nullptr) node->updates->begin();
  }
}

void GraphProgram::look_for_waits() {
  may_wait = std::any_of(nodes.begin(), nodes.end(), [](const std::shared_ptr<GraphNode>& node) {
    const Command& command = node->command;
    return command.kind == CommandKind::callback || command.kind == CommandKind::wait ||
           (command.kind == CommandKind::memory && command.memory_ops->has_waits()) ||
           (command.kind == CommandKind::kernel && command.run.unit->may_wait());
  });
}

GraphLaunch::~GraphLaunch() {
  for (Marker* marker : markers) {
    if (marker != nullptr) marker->release();
  }
}

void GraphProgram::collect_events() {
  events.clear();
  slot_records.clear();
  for (const std::shared_ptr<GraphNode>& node : nodes) {
    Event* const* const event = std::get_if<Event*>(&node->used);
    if (event == nullptr) continue;
    node->command.event_slot = static_cast<uint32_t>(events.size());
    events.push_back(*event);
    slot_records.push_back(node->command.kind == CommandKind::record);
  }
}

std::shared_ptr<GraphLaunch> GraphProgram::begin_launch(Stream* stream) const {
  if (events.empty()) return nullptr;
  auto launch = std::make_shared<GraphLaunch>();
  launch->markers.reserve(events.size());
  for (size_t slot = 0; slot < events.size(); ++slot) {
    launch->markers.push_back(slot_records[slot] ? Marker::make(stream) : events[slot]->latest());
  }
  return launch;
}

void GraphProgram::record_events(const GraphLaunch& launch, uint64_t ticket) const {
  for (size_t slot = 0; slot < events.size(); ++slot) {
    if (!slot_records[slot]) continue;
    Marker* marker = launch.markers[slot];
    marker->set_in_graph(ticket);
    marker->retain();
    events[slot]->set_latest(marker);
  }
}

bool GraphProgram::is_worth_forking(uint32_t threads) const {
  if (may_wait) return true;
  float ticks = 0;
  for (uint32_t node : plan->side_nodes()) ticks += estimated_ticks(nodes[node]->command);
  return threads > 1 && is_worth_a_thread(ticks);
}

Graph::Graph(Context* context) : context_(context) { context_->retain(); }

Graph::~Graph() {
  if (use_ != nullptr) context_->device_graphs().remove(program_->device_handle);
  program_.reset();
  context_->release();
}

/// Lets kernels change a node that has a handle. `before`: what it replaces; null: nothing.
void Graph::make_updates(GraphNode* made, const kmb_graph_node& node,
                         const GraphNode* before) const {
  if (node.kind != KM_GRAPH_NODE_KERNEL || node.kernel.update_handle == 0) return;
  auto base = std::make_shared<const NodeBase>(node.kernel);
  std::shared_ptr<UpdatableNode> updated;
  if (before != nullptr && before->updates != nullptr) {
    updated = before->updates->node();
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
    KM_ASSIGN(std::shared_ptr<GraphNode> made, make_node(node, context));
    program->nodes.push_back(std::move(made));
  }
  program->plan = std::make_shared<GraphPlan>(context, nodes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    graph->make_updates(program->nodes[i].get(), nodes[i], nullptr);
  }
  for (size_t i = 0; i < nodes.size(); ++i) take_user_data(program->nodes[i].get(), nodes[i]);
  program->set_environment();
  program->look_for_updates();
  program->look_for_waits();
  program->collect_events();
  graph->program_ = std::move(program);
  return graph;
}

Status Graph::update(std::span<const uint32_t> indices, std::span<const kmb_graph_node> nodes) {
  auto program = std::make_shared<GraphProgram>(*program_);
  for (size_t i = 0; i < nodes.size(); ++i) {
    KM_ASSIGN(std::shared_ptr<GraphNode> made, make_node(nodes[i], context_));
    make_updates(made.get(), nodes[i], program->nodes[indices[i]].get());
    program->nodes[indices[i]] = std::move(made);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    take_user_data(program->nodes[indices[i]].get(), nodes[i]);
  }
  program->set_environment();
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

/// Queues a graph command that is at its end already.
km_status graph_restore(kmb_graph* graph, kmb_stream* handle, uint64_t* out_ticket,
                        kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream* stream = from(handle);
    KM_TRY(stream->context()->check());
    const std::shared_ptr<const GraphProgram> program = from(graph)->program();
    Command* command = new_command(stream, CommandKind::graph);  // last: nothing fails after it
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
    Command* command = new_command(stream, CommandKind::graph);  // last: nothing fails after it
    command->program = program;
    command->lane = 0;
    command->step = 0;
    command->events = launch;
    *out_ticket = stream->submit(command);
    // The launch may be over by now, but it only completes its marks. Whoever reads their tickets
    // has them from the event, whose lock orders that.
    if (launch) program->record_events(*launch, *out_ticket);
    return {};
  });
}

}  // namespace km::cpu
