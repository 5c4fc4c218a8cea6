// Graphs as streams run them: commands that are built once and launched as one command of a stream.
// Independent branches run in lanes: the first lane is the stream of the launch, each other lane is
// a stream of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "backend/interface.h"
#include "backends/cpu/command/command.h"
#include "backends/cpu/order/node_order.h"

namespace km::cpu {

class Context;
class Event;
class Marker;
class Stream;

/// The user data of a host node, which is released with this object.
class HostData {
 public:
  HostData(km_release_callback release, void* user_data)
      : release_(release), user_data_(user_data) {}
  ~HostData() {
    if (release_ != nullptr) release_(user_data_);
  }
  HostData(const HostData&) = delete;
  HostData& operator=(const HostData&) = delete;

 private:
  const km_release_callback release_;
  void* const user_data_;
};

/// A node's command and the objects that it uses: a host node's data, or the event that it records
/// or waits for. Programs that are still queued keep replaced nodes alive.
struct GraphNode {
  Command command;
  std::variant<std::monostate, HostData, Event*> used;
  std::unique_ptr<NodeUpdates> updates;  // for the command; null: kernels do not change the node
};

/// The lanes of a graph: the nodes of each, and the points where lanes wait for each other.
class GraphPlan {
 public:
  GraphPlan(Context* context, std::span<const kmb_graph_node> nodes);
  ~GraphPlan();
  GraphPlan(const GraphPlan&) = delete;
  GraphPlan& operator=(const GraphPlan&) = delete;

  struct Step {
    uint32_t node;
    Command* sync;  // null: the node's own command
  };
  const std::vector<Step>& lane(uint32_t index) const { return lanes_[index]; }
  size_t lane_count() const { return lanes_.size(); }
  /// The nodes of all lanes except the first.
  const std::vector<uint32_t>& side_nodes() const { return side_nodes_; }
  /// Starts the other lanes for the graph command at the front of `main`. Returns false without
  /// memory; then none is started. Only one launch may run at a time.
  bool fork(Stream* main, const Command& front);

 private:
  GraphPlan();
  struct Placement;
  struct Mark {
    Marker* marker;
    uint32_t lane;
  };
  void build(std::span<const kmb_graph_node> nodes);
  Mark& mark_of(const Placement& placement, uint32_t node);
  void add_sync(uint32_t lane, CommandKind kind, Marker* marker);

  std::vector<std::vector<Step>> lanes_;
  std::vector<uint32_t> side_nodes_;
  std::vector<std::unique_ptr<Command>> syncs_;
  std::vector<Mark> marks_;
  std::vector<uint32_t> mark_index_;  // by node, while the plan is built
  std::vector<Stream*> streams_;      // of all lanes except the first
  std::vector<Command*> starts_;      // used by fork()
};

/// The marks of one launch: those that its nodes record, and those that they wait for (null: never
/// recorded).
struct GraphLaunch {
  std::vector<Marker*> markers;  // by slot, with a reference each
  GraphLaunch() = default;
  ~GraphLaunch();
  GraphLaunch(const GraphLaunch&) = delete;
  GraphLaunch& operator=(const GraphLaunch&) = delete;
};

/// Provides the graphs that kernels of a graph have launched as tails, which run after all of it.
class GraphTails {
 public:
  virtual ~GraphTails() = default;
  /// Returns the commands to run at the end of a run; null if there are none.
  virtual std::unique_ptr<FollowUps> begin_tails(Context* context) = 0;
};

/// A plan with the nodes' parameters. Immutable: an update makes a new program.
struct GraphProgram {
  std::shared_ptr<GraphPlan> plan;
  std::shared_ptr<GraphTails> environment;  // for its runs; null: its kernels launch nothing
  uint64_t device_handle = 0;               // the handle by which kernels launch it; 0: none
  std::vector<std::shared_ptr<GraphNode>> nodes;
  std::shared_ptr<const NodeOrder> order;  // for the checker; null: the nodes count as ordered
  bool has_updates = false;                // kernels may change nodes
  bool may_wait = false;                   // a kernel or callback may wait for another branch
  std::vector<Event*> events;              // by slot
  std::vector<bool> slot_records;          // by slot: true if the node records, false if it waits

  /// Starts the waiting tails, at the end of a graph command; false if there are none.
  bool begin_tails(Command* front, Context* context) const;
  /// Applies the host's changes to nodes that kernels change.
  void begin_updates() const;
  void look_for_updates();
  void look_for_waits();
  /// Assigns a slot to each node with an event.
  void collect_events();
  /// Creates the marks of a launch; null if the graph has no events.
  std::shared_ptr<GraphLaunch> begin_launch(Stream* stream) const;
  /// Makes the marks the latest recordings of their events, with the ticket of the launch's
  /// command.
  void record_events(const GraphLaunch& launch, uint64_t ticket) const;
  /// The step that a graph command is at; null if the graph has no steps.
  Command* step_of(const Command& front) const;
  /// The number of the node that a graph command is at; any number at a step between nodes.
  uint32_t node_of(const Command& front) const;
  /// Moves to the next step; false if there is none.
  bool advance(Command* front) const;
  /// Makes the next advance() move to the target of the branch that the command is at, or to the
  /// end if `ends`.
  void take_branch(Command* front, const kmb_branch& branch, bool ends) const;
  /// True if waking other threads for the lanes costs less than it saves.
  bool is_worth_forking(uint32_t threads) const;
};

}  // namespace km::cpu
