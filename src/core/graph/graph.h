// Graphs: nodes of work and their dependencies. GraphExec runs them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/context/context.h"

namespace km {

struct GraphWork;
/// Immutable, so that graphs, their clones and executable graphs share it.
using SharedWork = std::shared_ptr<const GraphWork>;

struct GraphNode {
  uint64_t id = 0;
  std::vector<uint64_t> dependencies;  // ids of nodes
  SharedWork work;
};

class Graph final : public ContextChild {
 public:
  explicit Graph(Context& context);
  /// A copy in which the child graphs of nodes are copied too. Each graph in it stands for the one
  /// it was copied from: find_copy() finds it by that.
  Ref<Graph> clone() const;
  /// A copy that becomes a node of a graph, which may hold several copies of the same graph: each
  /// stands for itself.
  Ref<Graph> clone_as_child() const;
  /// The graph in this one, or this one, that is a copy of the other or was copied with it; null if
  /// there is none.
  Graph* find_copy(const Graph& other);

  /// Returns the id of the new node, which is larger than all earlier ones.
  Result<uint64_t> add(std::span<const uint64_t> dependencies, SharedWork work);
  /// The work must have the node's kind.
  Status set(uint64_t node, SharedWork work);
  Status remove(uint64_t node);
  Status add_dependency(uint64_t from, uint64_t to);
  Status remove_dependency(uint64_t from, uint64_t to);

  /// A snapshot of the nodes, sorted by id.
  std::vector<GraphNode> nodes() const;
  Result<GraphNode> node(uint64_t id) const;
  /// The ids of the nodes that depend on this one.
  Result<std::vector<uint64_t>> dependents(uint64_t id) const;
  /// True if each of `nodes` is one of `heads` or a direct or indirect dependency of one.
  bool covers(std::span<const uint64_t> heads, std::span<const uint64_t> nodes) const;

 private:
  explicit Graph(PartOf part) : ContextChild(part) {}
  GraphNode* find(uint64_t id);
  const GraphNode* find(uint64_t id) const { return const_cast<Graph*>(this)->find(id); }
  std::vector<bool> ancestors_of(std::span<const uint64_t> heads) const;
  void renew_origins();
  Error no_such_node(uint64_t id, const char* what) const;

  mutable std::mutex mutex_;
  std::vector<GraphNode> nodes_;
  uint64_t last_id_ = 0;
  uint64_t origin_ = 0;  // copies have that of their original
};

/// The kind's name in messages: "kernel", "copy" ...
const char* graph_node_kind_name(km_graph_node_kind kind);

/// The position of a node by its id, which must exist.
size_t position_of(const std::vector<GraphNode>& nodes, uint64_t id);
/// Positions in `nodes`, each after the positions of its dependencies.
std::vector<size_t> topological_order(const std::vector<GraphNode>& nodes);

/// The first difference between the topologies of two graphs, and the node of `theirs` that shows
/// it. Nodes correspond by position.
struct GraphDifference {
  km_graph_difference kind = KM_GRAPH_DIFFERENCE_NONE;
  uint64_t node = 0;
};
GraphDifference compare_graphs(const Graph& ours, const Graph& theirs);

/// The graph in the DOT language of Graphviz.
std::string graph_to_dot(const Graph& graph);

}  // namespace km
