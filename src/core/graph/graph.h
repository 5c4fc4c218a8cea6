// Graphs: nodes of work and what runs after what. Nothing here runs anything.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/blas/blas.h"
#include "core/launch/launch.h"
#include "core/stream/event.h"

namespace km {

struct GraphWork;
/// Immutable, so that graphs, their clones and what is instantiated share it.
using SharedWork = std::shared_ptr<const GraphWork>;

struct GraphNode {
  uint64_t id = 0;
  std::vector<uint64_t> dependencies;  // ids
  SharedWork work;
};

class Graph final : public ContextChild {
 public:
  explicit Graph(Context& context) : ContextChild(context) {}
  /// With copies of the graphs within its nodes.
  Ref<Graph> clone() const;

  /// The new node's id, which is larger than all before.
  Result<uint64_t> add(std::span<const uint64_t> dependencies, SharedWork work);
  /// The work must be of the node's kind.
  Status set(uint64_t node, SharedWork work);
  Status remove(uint64_t node);
  Status add_dependency(uint64_t from, uint64_t to);
  Status remove_dependency(uint64_t from, uint64_t to);

  /// The nodes as they are now, by rising id.
  std::vector<GraphNode> nodes() const;
  Result<GraphNode> node(uint64_t id) const;
  /// The ids of the nodes that depend on this one.
  Result<std::vector<uint64_t>> dependents(uint64_t id) const;
  /// True if all of `nodes` are among `heads` and what those run after.
  bool covers(std::span<const uint64_t> heads, std::span<const uint64_t> nodes) const;

 private:
  explicit Graph(PartOf part) : ContextChild(part) {}
  GraphNode* find(uint64_t id);
  const GraphNode* find(uint64_t id) const { return const_cast<Graph*>(this)->find(id); }
  std::vector<bool> ancestors_of(std::span<const uint64_t> heads) const;
  Error no_such_node(uint64_t id, const char* what) const;

  mutable std::mutex mutex_;
  std::vector<GraphNode> nodes_;
  uint64_t last_id_ = 0;
};

/// The condition for graphs within a node: 32 bits of memory decide, if they are there.
struct Conditional {
  enum class Kind : uint8_t {
    kIf,      // the first graph where they are not 0, else the second
    kWhile,   // the only graph as long as they are not 0
    kSwitch,  // the graph of that number
  };
  Kind kind = Kind::kIf;
  bool has_default = false;  // stored when the outermost graph starts
  uint32_t default_value = 0;
  uint64_t address = 0;
  std::vector<Ref<Graph>> bodies;  // may change until they are instantiated
};

/// The work of a node; it keeps everything alive that it refers to.
struct GraphWork {
  km_graph_node_kind kind = KM_GRAPH_NODE_EMPTY;
  Ref<Function> function;
  LaunchShape shape;
  std::vector<std::byte> arguments;
  uint64_t destination = 0, source = 0, size_bytes = 0;  // of copies and fills
  uint32_t value = 0, value_size_bytes = 0;
  kmb_copy_3d rows{};                          // of copies and fills of rows
  kmb_context* destination_context = nullptr;  // of copies between contexts; memories keep them
  kmb_context* source_context = nullptr;
  km_host_callback callback = nullptr;
  void* user_data = nullptr;
  Ref<Graph> child;  // of no other node
  Ref<BlasEngine> blas;
  std::unique_ptr<const kmb_blas_call> blas_call;
  std::vector<kmb_memory_op> memory_ops;
  Ref<Event> event;
  std::shared_ptr<const Conditional> conditional;
  std::vector<Ref<Memory>> memories;
  std::vector<MemoryUse> uses;       // of memories, as far as they are ordered
  std::shared_ptr<const void> note;  // of whoever made the node
};

/// Notes what the work uses, where uses are ordered.
void add_use(GraphWork& work, const MemoryUse& use);

/// Work on which the first 32 bits of `memory` decide.
SharedWork conditional_work(Ref<Memory> memory, Conditional conditional,
                            std::shared_ptr<const void> note);

/// "kernel", "copy" ...
const char* graph_node_kind_name(km_graph_node_kind kind);

/// The position of a node that is there.
size_t position_of(const std::vector<GraphNode>& nodes, uint64_t id);
/// Positions in `nodes` such that each comes after those that it depends on.
std::vector<size_t> topological_order(const std::vector<GraphNode>& nodes);

/// The first way in which the topologies of two graphs differ, and the node of `theirs` that shows
/// it. Nodes correspond by their order.
struct GraphDifference {
  km_graph_difference kind = KM_GRAPH_DIFFERENCE_NONE;
  uint64_t node = 0;
};
GraphDifference compare_graphs(const Graph& ours, const Graph& theirs);

/// In the language of Graphviz.
std::string graph_to_dot(const Graph& graph);

}  // namespace km
