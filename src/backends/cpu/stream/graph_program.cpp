#include "backends/cpu/stream/graph_program.h"

#include <algorithm>

#include "backends/cpu/command/task.h"
#include "backends/cpu/command/work.h"
#include "backends/cpu/order/stream_order.h"
#include "backends/cpu/stream/event.h"
#include "backends/cpu/stream/marker.h"
#include "backends/cpu/stream/memory_ops.h"
#include "backends/cpu/stream/stream.h"
#include "base/assert.h"

namespace km::cpu {

Command* GraphProgram::step_of(const Command& front) const {
  KM_ASSERT(plan != nullptr, "a graph that was not planned is launched");
  if (front.in_turn) return front.step < nodes.size() ? &nodes[front.step]->command : nullptr;
  const std::vector<GraphPlan::Step>& lane = plan->lane(front.lane);
  if (front.step >= lane.size()) return nullptr;
  const GraphPlan::Step& step = lane[front.step];
  KM_ASSERT(step.sync != nullptr || step.node < nodes.size(), "a lane has a node of another graph");
  return step.sync != nullptr ? step.sync : &nodes[step.node]->command;
}

uint32_t GraphProgram::node_of(const Command& front) const {
  if (front.in_turn) return front.step;
  const std::vector<GraphPlan::Step>& lane = plan->lane(front.lane);
  return front.step < lane.size() ? lane[front.step].node : 0;
}

bool GraphProgram::advance(Command* front) const {
  const size_t count = front->in_turn ? nodes.size() : plan->lane(front->lane).size();
  return ++front->step < count;
}

void GraphProgram::take_branch(Command* front, const kmb_branch& branch, bool ends) const {
  const auto go_to = [&](uint64_t node) { front->step = static_cast<uint32_t>(node) - 1; };
  if (ends) return go_to(nodes.size());
  if (branch.address != 0) {
    // Kernels of earlier steps wrote the number.
    const auto* const number = reinterpret_cast<const uint32_t*>(branch.address);
    const uint32_t value = __atomic_load_n(number, __ATOMIC_RELAXED);
    if ((value == branch.value) != (branch.if_equal != 0)) return;
  }
  KM_ASSERT(branch.target <= nodes.size(), "a branch leads out of its graph");
  go_to(branch.target);
}

bool GraphProgram::begin_tails(Command* front, Context* context) const {
  if (environment == nullptr || front->lane != 0) return false;
  std::unique_ptr<FollowUps> tails = environment->begin_tails(context);
  if (tails == nullptr) return false;
  front->launches = std::move(tails);
  front->has_more = true;
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
           (command.kind == CommandKind::task && command.task->is_asynchronous()) ||
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
  if (StreamOrder* const order = StreamOrder::active()) [[unlikely]] {
    // The launch as a whole waits for what any node waits for.
    for (size_t slot = 0; slot < events.size(); ++slot) {
      const StreamOrder::Clock clock = slot_records[slot] ? nullptr : events[slot]->order();
      if (clock != nullptr) order->wait(stream->order_number(), *clock);
    }
  }
  launch->markers.reserve(events.size());
  for (size_t slot = 0; slot < events.size(); ++slot) {
    launch->markers.push_back(slot_records[slot] ? Marker::make(stream) : events[slot]->latest());
  }
  return launch;
}

void GraphProgram::record_events(const GraphLaunch& launch, uint64_t ticket) const {
  KM_ASSERT(launch.markers.size() == events.size(), "a launch has markers of another program");
  for (size_t slot = 0; slot < events.size(); ++slot) {
    if (!slot_records[slot]) continue;
    Marker* marker = launch.markers[slot];
    marker->set_in_graph(ticket);
    marker->retain();
    events[slot]->set_latest(marker);
    if (StreamOrder* const order = StreamOrder::active()) [[unlikely]]
      events[slot]->set_order(order->clock_of(marker->stream()->order_number()));
  }
}

bool GraphProgram::is_worth_forking(uint32_t threads) const {
  if (may_wait) return true;
  float ns = 0;
  for (uint32_t node : plan->side_nodes()) ns += estimated_ns(nodes[node]->command);
  return threads > 1 && is_worth_a_thread(ns);
}

}  // namespace km::cpu
