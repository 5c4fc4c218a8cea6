// Graphs as streams run them: commands made once, and launched as one command of a stream. Branches
// that do not depend on each other lie in lanes: the first is the stream of the launch, each other
// one a stream of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "backend/interface.h"
#include "backends/cpu/command/command.h"

namespace km::cpu {

class Context;
class Event;
class Marker;
class Stream;

/// The user data of a host node, released at its end.
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

/// One node's command, with what it uses beside it: a host node's data, or the event that it
/// records or waits for. Nodes live on in programs that are still queued.
struct GraphNode {
  Command command;
  std::variant<std::monostate, HostData, Event*> used;
  std::unique_ptr<NodeUpdates> updates;  // of the command; null: no kernel changes the node
};

/// The lanes of a graph: the nodes that run in each, and the places at which lanes wait for each
/// other.
class GraphPlan {
 public:
  GraphPlan(Context* context, std::span<const kmb_graph_node> nodes);
  ~GraphPlan();
  GraphPlan(const GraphPlan&) = delete;
  GraphPlan& operator=(const GraphPlan&) = delete;

  struct Step {
    uint32_t node;
    Command* sync;  // null: the node
  };
  const std::vector<Step>& lane(uint32_t index) const { return lanes_[index]; }
  size_t lane_count() const { return lanes_.size(); }
  /// The nodes of all lanes but the first.
  const std::vector<uint32_t>& side_nodes() const { return side_nodes_; }
  /// Starts the other lanes for the graph command at the front of `main`. False: memory is short,
  /// nothing was started. Only one launch runs at a time.
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
  std::vector<uint32_t> mark_index_;  // by node, while it is built
  std::vector<Stream*> streams_;      // of the lanes but the first
  std::vector<Command*> starts_;      // for fork()
};

/// The marks of one launch: of what its nodes record, and of what they wait for (null: never
/// recorded).
struct GraphLaunch {
  std::vector<Marker*> markers;  // by slot, a reference each
  GraphLaunch() = default;
  ~GraphLaunch();
  GraphLaunch(const GraphLaunch&) = delete;
  GraphLaunch& operator=(const GraphLaunch&) = delete;
};

/// GraphTails gives the work that a graph's kernels have put after all of it.
class GraphTails {
 public:
  virtual ~GraphTails() = default;
  /// The commands to run at the end of a run; null: there are none.
  virtual std::unique_ptr<FollowUps> begin_tails(Context* context) = 0;
};

/// A plan with the nodes' parameters. Immutable: an update makes another one.
struct GraphProgram {
  std::shared_ptr<GraphPlan> plan;
  std::shared_ptr<GraphTails> environment;  // of its runs; null: its kernels launch nothing
  uint64_t device_handle = 0;               // by which kernels launch it; 0: by none
  std::vector<std::shared_ptr<GraphNode>> nodes;
  bool has_updates = false;        // kernels change nodes
  bool may_wait = false;           // a kernel or callback may wait for what another branch does
  std::vector<Event*> events;      // by slot
  std::vector<bool> slot_records;  // by slot; else the node waits

  /// Makes the graphs that wait as tails the launches of a graph command at its end; false: there
  /// are none.
  bool begin_tails(Command* front, Context* context) const;
  /// Takes over what the host has changed of nodes that kernels change.
  void begin_updates() const;
  void look_for_updates();
  void look_for_waits();
  /// Gives each node with an event its slot.
  void collect_events();
  /// Null where there are no events.
  std::shared_ptr<GraphLaunch> begin_launch(Stream* stream) const;
  /// The marks are those of a launch whose command has this ticket.
  void record_events(const GraphLaunch& launch, uint64_t ticket) const;
  /// The step that a graph command is at, null: it has none.
  Command* step_of(const Command& front) const;
  /// Goes on to the next step; false: there is none.
  bool advance(Command* front) const;
  /// Makes advance() go to where the branch that the command is at leads, to the end if it `ends`.
  void take_branch(Command* front, const kmb_branch& branch, bool ends) const;
  /// True if other threads are worth their waking.
  bool is_worth_forking(uint32_t threads) const;
};

}  // namespace km::cpu
