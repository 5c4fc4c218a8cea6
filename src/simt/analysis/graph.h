// Directed graphs over small integers, and what is computed on them: orders, dominators,
// natural loops. Used for kernels, for their barrier regions and for call graphs alike.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace km::simt {

using NodeId = uint32_t;
constexpr NodeId kNoNode = UINT32_MAX;

/// Node 0 is the entry. Parallel edges are kept (a branch whose two targets are one block).
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

/// Nodes reachable from the entry, each before its successors except along back edges.
std::vector<NodeId> reverse_postorder(const Graph& graph, NodeId entry = 0);

/// The strongly connected component of each node that the entry reaches; kNoNode: it does not. An
/// edge from one component to another leads to the larger number.
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
  /// Dominance frontier of every node, in ascending order. Nothing: they have more than so many
  /// entries in all.
  std::optional<std::vector<std::vector<NodeId>>> frontiers(const Graph& graph,
                                                            uint64_t most_entries) const;

 private:
  void number();

  std::vector<NodeId> parent_;
  std::vector<std::vector<NodeId>> children_;
  std::vector<uint32_t> first_, last_;  // visiting times; 0: unreachable
  NodeId entry_ = 0;
};

/// Post-dominators: a virtual exit (node graph.size()) follows every node without successors, and
/// one node of each endless loop, so that every node has a post-dominator.
DominatorTree post_dominators(const Graph& graph);

struct Loop {
  NodeId header = kNoNode;
  uint32_t parent = UINT32_MAX;  // index of the enclosing loop
  uint32_t depth = 1;
  std::vector<NodeId> nodes;     // header first; nodes of inner loops included
  std::vector<NodeId> latches;   // sources of back edges
  uint32_t first = 0, last = 0;  // numbers of the loops inside, its own first, in an order of trees
};

struct LoopForest {
  std::vector<Loop> loops;          // outer loops before inner ones
  std::vector<uint32_t> innermost;  // loop of each node, UINT32_MAX: none
  NodeId irreducible = kNoNode;     // a node entered from outside a cycle that it does not head

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

/// The place of each node in a list, found in logarithmic time and space that depends on the list.
class NodeNumbers {
 public:
  NodeNumbers() = default;
  explicit NodeNumbers(const std::vector<NodeId>& nodes);
  /// kNoNode: the node is not in the list.
  uint32_t of(NodeId node) const;

 private:
  std::vector<std::pair<NodeId, uint32_t>> sorted_;
};

/// One iteration of a loop: its nodes, numbered as in Loop::nodes, and last a node for what comes
/// after, be it another iteration or what lies behind the loop.
Graph iteration_graph(const Graph& graph, const LoopForest& loops, uint32_t loop);

/// Reconvergence within one iteration of all loops around: post-dominance, in which a node that
/// only the next iteration reaches does not count. Keeps references.
class Reconvergence {
 public:
  Reconvergence(const Graph& graph, const LoopForest& loops);

  /// Every way from `from` leads to `to`, in the same iteration of each loop that holds both.
  bool always_reaches(NodeId from, NodeId to);

 private:
  struct Iteration {
    NodeNumbers index;  // of a node in Loop::nodes
    DominatorTree post;
  };

  const Graph& graph_;
  const LoopForest& loops_;
  DominatorTree whole_;
  std::vector<std::unique_ptr<Iteration>> iterations_;  // by loop, made when asked for
};

}  // namespace km::simt
