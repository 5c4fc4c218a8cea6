// Entries of graphs, and how their commands are made and run.
#include "backends/cpu/graph/graph.h"

#include <algorithm>
#include <memory>

#include "backends/cpu/blas/blas.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/execution/launch.h"
#include "backends/cpu/memory/memory_ops.h"
#include "backends/cpu/stream/callback_thread.h"
#include "backends/cpu/stream/event.h"
#include "backends/cpu/stream/marker.h"
#include "backends/cpu/stream/stream.h"
#include "backends/cpu/workers/thread_pool.h"
#include "backends/cpu/workers/work.h"

namespace km::cpu {
namespace {

static_assert(int{KM_PROFILE_KIND_COPY} == int{KM_GRAPH_NODE_COPY} &&
              int{KM_PROFILE_KIND_UPLOAD} == int{KM_GRAPH_NODE_UPLOAD} &&
              int{KM_PROFILE_KIND_DOWNLOAD} == int{KM_GRAPH_NODE_DOWNLOAD} &&
              int{KM_PROFILE_KIND_FILL} == int{KM_GRAPH_NODE_FILL});

Status make_command(Command* command, const kmb_graph_node& node, Context* context) {
  switch (node.kind) {
    case KM_GRAPH_NODE_KERNEL:
      return prepare_launch(command, *from(node.function), node.launch, context);
    case KM_GRAPH_NODE_COPY:
    case KM_GRAPH_NODE_UPLOAD:
    case KM_GRAPH_NODE_DOWNLOAD:
    case KM_GRAPH_NODE_FILL:
      command->kind = CommandKind::transfer;
      command->transfer.destination = node.destination;
      command->transfer.source = node.source;
      command->transfer.size_bytes = node.size_bytes;
      command->transfer.kind = static_cast<km_profile_kind>(node.kind);  // of the same values
      command->transfer.value = node.value;
      command->transfer.value_size_bytes = node.value_size_bytes;
      return {};
    case KM_GRAPH_NODE_COPY_3D:
    case KM_GRAPH_NODE_UPLOAD_3D:
    case KM_GRAPH_NODE_DOWNLOAD_3D:
    case KM_GRAPH_NODE_FILL_2D:
      command->kind = CommandKind::transfer;
      command->transfer = rows_transfer(node.rows);
      if (node.kind != KM_GRAPH_NODE_FILL_2D) return {};
      command->transfer.kind = KM_PROFILE_KIND_FILL;
      command->transfer.value = node.value;
      command->transfer.value_size_bytes = node.value_size_bytes;
      return {};
    case KM_GRAPH_NODE_COPY_PEER:
      command->kind = CommandKind::transfer;
      command->transfer.destination = node.destination;
      command->transfer.source = node.source;
      command->transfer.size_bytes = node.size_bytes;
      return {};
    case KM_GRAPH_NODE_BLAS: {
      KM_ASSIGN(command->task, make_blas_task(*node.blas_call, context->pool()->threads()));
      command->kind = CommandKind::task;
      return {};
    }
    case KM_GRAPH_NODE_HOST:
      if (!start_callback_thread()) return no_callback_thread();
      command->kind = CommandKind::callback;
      command->callback = node.callback;
      command->user_data = node.user_data;
      return {};
    case KM_GRAPH_NODE_MEMORY_OPS: {
      KM_ASSIGN(command->memory_ops, MemoryOps::make({node.memory_ops, node.memory_op_count}));
      command->kind = CommandKind::memory;
      return {};
    }
    case KMB_GRAPH_NODE_BRANCH:
      command->kind = CommandKind::branch;
      command->branch = node.branch;
      return {};
    case KMB_GRAPH_NODE_EVENT_RECORD:
      command->kind = CommandKind::record;
      return {};
    case KMB_GRAPH_NODE_EVENT_WAIT:
      command->kind = CommandKind::wait;
      return {};
    default:
      return {};  // it only joins and forks
  }
}

Result<std::shared_ptr<GraphNode>> make_node(const kmb_graph_node& node, Context* context) {
  auto made = std::make_shared<GraphNode>();
  KM_TRY(make_command(&made->command, node, context));
  made->event = from(node.event);
  return made;
}

/// From here on the node owns its user data.
void take_user_data(GraphNode* made, const kmb_graph_node& node) {
  made->release = node.release;
  made->user_data = node.user_data;
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
    if (node->event == nullptr) continue;
    node->command.event_slot = static_cast<uint32_t>(events.size());
    events.push_back(node->event);
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
  program_.reset();
  context_->release();
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
  for (size_t i = 0; i < nodes.size(); ++i) take_user_data(program->nodes[i].get(), nodes[i]);
  program->look_for_waits();
  program->collect_events();
  graph->program_ = std::move(program);
  return graph;
}

Status Graph::update(std::span<const uint32_t> indices, std::span<const kmb_graph_node> nodes) {
  auto program = std::make_shared<GraphProgram>(*program_);
  for (size_t i = 0; i < nodes.size(); ++i) {
    KM_ASSIGN(program->nodes[indices[i]], make_node(nodes[i], context_));
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    take_user_data(program->nodes[indices[i]].get(), nodes[i]);
  }
  program->look_for_waits();
  program->collect_events();
  program_ = std::move(program);
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
