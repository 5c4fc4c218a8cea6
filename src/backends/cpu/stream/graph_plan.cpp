// Assigns the nodes of a graph to lanes.
#include <algorithm>
#include <array>

#include "backends/cpu/device/context.h"
#include "backends/cpu/stream/graph_program.h"
#include "backends/cpu/stream/marker.h"
#include "backends/cpu/stream/stream.h"
#include "base/assert.h"

namespace km::cpu {
namespace {

constexpr uint32_t kMaxLanes = 16;
constexpr uint32_t kNone = UINT32_MAX;

/// For each lane, the number of its first nodes that are known to be over: a vector clock.
using Clock = std::array<uint32_t, kMaxLanes>;

void merge(Clock* into, const Clock& other) {
  for (uint32_t i = 0; i < kMaxLanes; ++i) (*into)[i] = std::max((*into)[i], other[i]);
}

}  // namespace

/// Nodes are placed one by one in topological order, so that lanes never wait for each other in a
/// cycle.
struct GraphPlan::Placement {
  struct Place {
    uint32_t lane = 0, position = 0;  // positions count from 1
    Clock over{};                     // the nodes that are over when this one is
  };
  std::vector<Place> places;  // by node
  std::vector<Clock> known;   // by lane: the nodes that are over at its current end
  std::vector<uint32_t> tails;

  bool is_known(uint32_t lane, uint32_t node) const {
    return known[lane][places[node].lane] >= places[node].position;
  }

  uint32_t choose_lane(uint32_t node, std::span<const uint32_t> dependencies) const {
    Clock before{};
    for (uint32_t dependency : dependencies) {
      if (tails[places[dependency].lane] == dependency) return places[dependency].lane;
      merge(&before, places[dependency].over);
    }
    for (uint32_t lane = 0; lane < tails.size(); ++lane) {
      if (tails[lane] == kNone || before[lane] >= places[tails[lane]].position) return lane;
    }
    const auto count = static_cast<uint32_t>(tails.size());
    return count < kMaxLanes ? count : node % kMaxLanes;
  }

  void add_lane() {
    known.emplace_back();
    tails.push_back(kNone);
  }

  void put(uint32_t node, uint32_t lane) {
    KM_ASSERT(lane < tails.size() && tails.size() <= kMaxLanes, "a node is put in no lane");
    const uint32_t position = tails[lane] == kNone ? 1 : places[tails[lane]].position + 1;
    known[lane][lane] = position;
    places[node] = {lane, position, known[lane]};
    tails[lane] = node;
  }
};

GraphPlan::GraphPlan() : lanes_(1) {}

// The other constructor runs first, so that the destructor frees the parts if an allocation throws.
GraphPlan::GraphPlan(Context* context, std::span<const kmb_graph_node> nodes) : GraphPlan() {
  mark_index_.assign(nodes.size(), kNone);
  build(nodes);
  mark_index_.clear();
  starts_.reserve(lanes_.size());
  streams_.reserve(lanes_.size());
  for (size_t i = 1; i < lanes_.size(); ++i) {
    streams_.push_back(Stream::open(context, 0));
    // A command is allocated and returned to the stream, so that fork() finds one.
    if (Command* first = streams_.back()->allocate()) streams_.back()->discard(first);
  }
}

GraphPlan::~GraphPlan() {
  for (Mark& mark : marks_) mark.marker->release();
  for (Stream* stream : streams_) stream->close();
}

GraphPlan::Mark& GraphPlan::mark_of(const Placement& placement, uint32_t node) {
  uint32_t& index = mark_index_[node];
  if (index == kNone) {
    marks_.reserve(marks_.size() + 1);
    marks_.push_back({Marker::make(nullptr), placement.places[node].lane});
    index = static_cast<uint32_t>(marks_.size() - 1);
  }
  return marks_[index];
}

void GraphPlan::add_sync(uint32_t lane, CommandKind kind, Marker* marker) {
  syncs_.push_back(std::make_unique<Command>());
  syncs_.back()->kind = kind;
  syncs_.back()->marker = marker;
  lanes_[lane].push_back({0, syncs_.back().get()});
}

void GraphPlan::build(std::span<const kmb_graph_node> nodes) {
  Placement placement;
  placement.places.resize(nodes.size());
  placement.add_lane();
  // The nodes that each node has to wait for, except those that have ended when its lane gets
  // there.
  std::vector<std::vector<uint32_t>> waits(nodes.size() + 1);
  const auto wait_for = [&](uint32_t lane, uint32_t node, std::vector<uint32_t>* out) {
    if (placement.is_known(lane, node)) return;
    out->push_back(node);
    mark_of(placement, node);
    merge(&placement.known[lane], placement.places[node].over);
  };
  for (uint32_t node = 0; node < nodes.size(); ++node) {
    const std::span dependencies(nodes[node].dependencies, nodes[node].dependency_count);
    KM_ASSERT(std::all_of(dependencies.begin(), dependencies.end(),
                          [&](uint32_t before) { return before < node; }),
              "a node depends on one that comes after it");
    const uint32_t lane = placement.choose_lane(node, dependencies);
    if (lane == placement.tails.size()) placement.add_lane();
    // The search starts with the latest dependency, which often comes after the others.
    for (size_t i = dependencies.size(); i-- > 0;) wait_for(lane, dependencies[i], &waits[node]);
    placement.put(node, lane);
    if (lane != 0) side_nodes_.push_back(node);
  }
  for (uint32_t lane = 1; lane < placement.tails.size(); ++lane) {
    wait_for(0, placement.tails[lane], &waits[nodes.size()]);
  }
  lanes_.resize(placement.tails.size());
  for (uint32_t node = 0; node < nodes.size(); ++node) {
    const uint32_t lane = placement.places[node].lane;
    for (uint32_t other : waits[node]) {
      add_sync(lane, CommandKind::wait, mark_of(placement, other).marker);
    }
    lanes_[lane].push_back({node, nullptr});
    if (mark_index_[node] == kNone) continue;
    add_sync(lane, CommandKind::record, mark_of(placement, node).marker);
  }
  for (uint32_t other : waits[nodes.size()]) {
    add_sync(0, CommandKind::wait, mark_of(placement, other).marker);
  }
}

bool GraphPlan::fork(Stream* main, const Command& front) {
  starts_.clear();
  for (Stream* stream : streams_) {
    Command* start = stream->allocate();
    if (start == nullptr) {
      for (size_t i = 0; i < starts_.size(); ++i) streams_[i]->discard(starts_[i]);
      return false;
    }
    starts_.push_back(start);
  }
  KM_ASSERT(streams_.size() + 1 == lanes_.size(), "a graph lacks a stream for a lane");
  for (Mark& mark : marks_) {
    Stream* stream = mark.lane == 0 ? main : streams_[mark.lane - 1];
    mark.marker->rearm(stream, mark.lane == 0 ? front.ticket : stream->submitted() + 1);
  }
  for (size_t i = 0; i < streams_.size(); ++i) {
    Command* start = starts_[i];
    start->kind = CommandKind::graph;
    start->program = front.program;
    start->events = front.events;
    start->operation = front.operation;
    start->has_more = front.operation != nullptr;
    start->lane = static_cast<uint32_t>(i + 1);
    start->step = 0;
    start->in_turn = false;
    streams_[i]->set_priority(main->priority());
    streams_[i]->submit(start);
  }
  return true;
}

}  // namespace km::cpu
