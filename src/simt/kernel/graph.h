// Directed graphs over small integers, and algorithms on them: orders, dominators, natural loops.
// They serve kernels, their barrier regions and call graphs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace km::simt {

using NodeId = uint32_t;
constexpr NodeId kNoNode = UINT32_MAX;

/// Node 0 is the entry. Parallel edges are kept, for branches whose two targets are the same block.
struct Graph {
  std::vector<std::vector<NodeId>> succs, preds;

  explicit Graph(size_t count = 0) : succs(count), preds(count) {}
  size_t size() const { return succs.size(); }
  void add_edge(NodeId from, NodeId to) {
    succs[from].push_back(to);
    preds[to].push_back(from);
  }
  Graph reversed() const;
};

/// The nodes reachable from the entry, each before its successors except along back edges.
std::vector<NodeId> reverse_postorder(const Graph& graph, NodeId entry = 0);

/// The strongly connected component of each reachable node; kNoNode for others. Components are in
/// topological order: an edge leads to the same or a larger number.
std::vector<uint32_t> components(const Graph& graph, NodeId entry = 0);

class DominatorTree {
 public:
  DominatorTree() = default;
  DominatorTree(const Graph& graph, NodeId entry);

  NodeId parent(NodeId node) const { return parent_[node]; }  // kNoNode for entry, unreachable
  const std::vector<NodeId>& children(NodeId node) const { return children_[node]; }
  bool reachable(NodeId node) const { return first_[node] != 0; }
  bool dominates(NodeId above, NodeId below) const {
    return reachable(above) && reachable(below) && first_[above] <= first_[below] &&
           last_[below] <= last_[above];
  }
  /// The dominance frontier of every node, in ascending order; nothing if the frontiers have more
  /// than `limit` entries in all.
  std::optional<std::vector<std::vector<NodeId>>> frontiers(const Graph& graph,
                                                            uint64_t most_entries) const;

 private:
  void number();

  std::vector<NodeId> parent_;
  std::vector<std::vector<NodeId>> children_;
  std::vector<uint32_t> first_, last_;  // visiting times; 0: unreachable
  NodeId entry_ = 0;
};

/// The post-dominator tree. A virtual exit (node graph.size()) succeeds every node without
/// successors and one node of each endless loop, so that every node has a post-dominator.
DominatorTree post_dominators(const Graph& graph);

struct Loop {
  NodeId header = kNoNode;
  uint32_t parent = UINT32_MAX;  // index of the enclosing loop
  uint32_t depth = 1;
  std::vector<NodeId> nodes;     // header first; nodes of inner loops included
  std::vector<NodeId> latches;   // sources of back edges
  uint32_t first = 0, last = 0;  // preorder range of the loop and its inner loops in the loop tree
};

struct LoopForest {
  std::vector<Loop> loops;          // outer loops before inner ones
  std::vector<uint32_t> innermost;  // loop of each node, UINT32_MAX: none
  // A node that is entered from outside a cycle that it does not head.
  NodeId irreducible = kNoNode;

  bool contains(uint32_t loop, NodeId node) const {
    const uint32_t inner = innermost[node];
    return inner != UINT32_MAX && loops[loop].first <= loops[inner].first &&
           loops[inner].first <= loops[loop].last;
  }
  uint32_t depth(NodeId node) const {
    return innermost[node] == UINT32_MAX ? 0 : loops[innermost[node]].depth;
  }
};

LoopForest find_loops(const Graph& graph, const DominatorTree& dominators);

/// Maps the nodes of a list to their indices, in logarithmic time and space proportional to the
/// list.
class NodeNumbers {
 public:
  NodeNumbers() = default;
  explicit NodeNumbers(const std::vector<NodeId>& nodes);
  /// The index; kNoNode if the node is not in the list.
  uint32_t of(NodeId node) const;

 private:
  std::vector<std::pair<NodeId, uint32_t>> sorted_;
};

/// One iteration of a loop as a graph: its nodes, numbered as in Loop::nodes, and a last node for
/// everything after it: the next iteration or the code after the loop.
Graph iteration_graph(const Graph& graph, const LoopForest& loops, uint32_t loop);

/// Reconvergence within one iteration of all enclosing loops: post-dominance that ignores nodes
/// reached only by the next iteration. It keeps references to its arguments.
class Reconvergence {
 public:
  Reconvergence(const Graph& graph, const LoopForest& loops);

  /// True if every path from `from` leads to `to` in the same iteration of each loop that contains
  /// both.
  bool always_reaches(NodeId from, NodeId to);

 private:
  struct Iteration {
    NodeNumbers index;  // index of a node in Loop::nodes
    DominatorTree post;
  };

  const Graph& graph_;
  const LoopForest& loops_;
  DominatorTree whole_;
  std::vector<std::unique_ptr<Iteration>> iterations_;  // by loop, computed on demand
};

}  // namespace km::simt
