#include "simt/kernel/graph.h"

#include <algorithm>

namespace km::simt {

Graph Graph::reversed() const {
  Graph result(size());
  result.succs = preds;
  result.preds = succs;
  return result;
}

std::vector<NodeId> reverse_postorder(const Graph& graph, NodeId entry) {
  std::vector<NodeId> order;
  std::vector<uint8_t> seen(graph.size());
  std::vector<std::pair<NodeId, size_t>> stack;
  if (entry >= graph.size()) return order;
  stack.emplace_back(entry, 0);
  seen[entry] = 1;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == graph.succs[node].size()) {
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    NodeId target = graph.succs[node][next++];
    if (!seen[target]) {
      seen[target] = 1;
      stack.emplace_back(target, 0);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

// Kosaraju's algorithm: backward searches from the nodes in reverse postorder.
std::vector<uint32_t> components(const Graph& graph, NodeId entry) {
  const std::vector<NodeId> order = reverse_postorder(graph, entry);
  std::vector<uint8_t> reached(graph.size());
  for (NodeId node : order) reached[node] = 1;
  std::vector<uint32_t> result(graph.size(), kNoNode);
  uint32_t count = 0;
  for (NodeId root : order) {
    if (result[root] != kNoNode) continue;
    std::vector<NodeId> stack{root};
    result[root] = count;
    while (!stack.empty()) {
      const NodeId node = stack.back();
      stack.pop_back();
      for (NodeId pred : graph.preds[node]) {
        if (!reached[pred] || result[pred] != kNoNode) continue;
        result[pred] = count;
        stack.push_back(pred);
      }
    }
    ++count;
  }
  return result;
}

namespace {

/// The state of Lengauer and Tarjan's algorithm. Its arrays are indexed by depth-first order, so
/// node 0 is the entry.
class Semidominators {
 public:
  Semidominators(const Graph& graph, NodeId entry) : graph_(graph), place_(graph.size(), kNoNode) {
    search(entry);
    const size_t count = nodes_.size();
    semi_.resize(count);
    label_.resize(count);
    for (uint32_t v = 0; v < count; ++v) semi_[v] = label_[v] = v;
    ancestor_.assign(count, kNoNode);
    dominator_.assign(count, 0);
    std::vector<std::vector<uint32_t>> bucket(count);
    for (auto w = static_cast<uint32_t>(count); w-- > 1;) {
      for (NodeId pred : graph.preds[nodes_[w]]) {
        if (place_[pred] != kNoNode) semi_[w] = std::min(semi_[w], semi_[eval(place_[pred])]);
      }
      bucket[semi_[w]].push_back(w);
      ancestor_[w] = parent_[w];
      for (uint32_t v : bucket[parent_[w]]) {
        const uint32_t u = eval(v);
        dominator_[v] = semi_[u] < semi_[v] ? u : parent_[w];
      }
      bucket[parent_[w]].clear();
    }
    for (uint32_t w = 1; w < count; ++w) {
      if (dominator_[w] != semi_[w]) dominator_[w] = dominator_[dominator_[w]];
    }
  }

  /// Calls `set(node, immediate dominator)` for all reachable nodes except the entry.
  template <class Set>
  void for_each(Set set) const {
    for (uint32_t w = 1; w < nodes_.size(); ++w) set(nodes_[w], nodes_[dominator_[w]]);
  }

 private:
  void search(NodeId entry) {
    std::vector<std::pair<uint32_t, size_t>> stack;
    auto enter = [&](NodeId node, uint32_t parent) {
      place_[node] = static_cast<uint32_t>(nodes_.size());
      stack.emplace_back(place_[node], 0);
      nodes_.push_back(node);
      parent_.push_back(parent);
    };
    enter(entry, 0);
    while (!stack.empty()) {
      auto& [at, next] = stack.back();
      const auto& succs = graph_.succs[nodes_[at]];
      if (next == succs.size()) {
        stack.pop_back();
        continue;
      }
      const NodeId succ = succs[next++];
      if (place_[succ] == kNoNode) enter(succ, at);
    }
  }

  /// The node with the smallest semidominator on the path up from `v`, with path compression.
  uint32_t eval(uint32_t v) {
    if (ancestor_[v] == kNoNode) return label_[v];
    std::vector<uint32_t>& way = way_;
    for (uint32_t u = v; ancestor_[ancestor_[u]] != kNoNode; u = ancestor_[u]) way.push_back(u);
    while (!way.empty()) {
      const uint32_t u = way.back(), above = ancestor_[u];
      way.pop_back();
      if (semi_[label_[above]] < semi_[label_[u]]) label_[u] = label_[above];
      ancestor_[u] = ancestor_[above];
    }
    return label_[v];
  }

  const Graph& graph_;
  std::vector<uint32_t> place_;  // by node
  std::vector<NodeId> nodes_;
  std::vector<uint32_t> parent_, semi_, label_, ancestor_, dominator_, way_;
};

}  // namespace

DominatorTree::DominatorTree(const Graph& graph, NodeId entry)
    : parent_(graph.size(), kNoNode),
      children_(graph.size()),
      first_(graph.size()),
      last_(graph.size()),
      entry_(entry) {
  Semidominators(graph, entry).for_each([this](NodeId node, NodeId parent) {
    parent_[node] = parent;
  });
  for (NodeId node : reverse_postorder(graph, entry)) {
    if (node != entry) children_[parent_[node]].push_back(node);
  }
  number();
}

void DominatorTree::number() {
  uint32_t time = 0;
  std::vector<std::pair<NodeId, size_t>> stack{{entry_, 0}};
  first_[entry_] = ++time;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == children_[node].size()) {
      last_[node] = ++time;
      stack.pop_back();
      continue;
    }
    NodeId child = children_[node][next++];
    first_[child] = ++time;
    stack.emplace_back(child, 0);
  }
}

std::optional<std::vector<std::vector<NodeId>>> DominatorTree::frontiers(
    const Graph& graph, uint64_t most_entries) const {
  std::vector<std::vector<NodeId>> result(graph.size());
  uint64_t entries = 0;
  for (NodeId node = 0; node < graph.size(); ++node) {
    if (!reachable(node)) continue;
    for (NodeId pred : graph.preds[node]) {
      if (!reachable(pred)) continue;
      // A node that has recorded this frontier entry has made all those above record it.
      for (NodeId runner = pred; runner != kNoNode && runner != parent_[node] &&
                                 (result[runner].empty() || result[runner].back() != node);
           runner = parent_[runner]) {
        result[runner].push_back(node);
        ++entries;
      }
      if (entries > most_entries) return std::nullopt;
    }
  }
  return result;
}

DominatorTree post_dominators(const Graph& graph) {
  const auto exit = static_cast<NodeId>(graph.size());
  Graph reverse(graph.size() + 1);
  for (NodeId node = 0; node < graph.size(); ++node) {
    for (NodeId succ : graph.succs[node]) reverse.add_edge(succ, node);
    if (graph.succs[node].empty()) reverse.add_edge(exit, node);
  }
  auto order = reverse_postorder(graph);
  std::vector<uint8_t> reaches_exit(graph.size());
  auto mark = [&](NodeId from) {
    std::vector<NodeId> stack{from};
    reaches_exit[from] = 1;
    while (!stack.empty()) {
      NodeId node = stack.back();
      stack.pop_back();
      for (NodeId pred : graph.preds[node]) {
        if (!reaches_exit[pred]) {
          reaches_exit[pred] = 1;
          stack.push_back(pred);
        }
      }
    }
  };
  for (NodeId node : order) {
    if (graph.succs[node].empty() && !reaches_exit[node]) mark(node);
  }
  for (auto node = order.rbegin(); node != order.rend(); ++node) {  // endless loops, deepest first
    if (reaches_exit[*node]) continue;
    reverse.add_edge(exit, *node);
    mark(*node);
  }
  return DominatorTree(reverse, exit);
}

namespace {

/// Collects a loop's nodes; `collected[node]` is the last loop that has the node, by its header's
/// number.
void collect_loop(const Graph& graph, const DominatorTree& dominators, Loop& loop,
                  std::vector<NodeId>& collected) {
  collected[loop.header] = loop.header;
  loop.nodes.push_back(loop.header);
  std::vector<NodeId> stack = loop.latches;
  while (!stack.empty()) {
    NodeId node = stack.back();
    stack.pop_back();
    if (collected[node] == loop.header) continue;
    collected[node] = loop.header;
    loop.nodes.push_back(node);
    for (NodeId pred : graph.preds[node]) {
      if (dominators.reachable(pred)) stack.push_back(pred);
    }
  }
}

/// Outer loops precede inner ones, so counting backwards and numbering forwards needs no recursion.
void number_trees(std::vector<Loop>& loops) {
  std::vector<uint32_t> size(loops.size(), 1);
  for (size_t l = loops.size(); l-- > 0;) {
    if (loops[l].parent != UINT32_MAX) size[loops[l].parent] += size[l];
  }
  uint32_t next_root = 0;
  std::vector<uint32_t> next(loops.size());  // next free number inside each loop
  for (size_t l = 0; l < loops.size(); ++l) {
    uint32_t& place = loops[l].parent == UINT32_MAX ? next_root : next[loops[l].parent];
    loops[l].first = place;
    loops[l].last = place + size[l] - 1;
    next[l] = place + 1;
    place += size[l];
  }
}

}  // namespace

LoopForest find_loops(const Graph& graph, const DominatorTree& dominators) {
  LoopForest forest;
  forest.innermost.assign(graph.size(), UINT32_MAX);
  auto order = reverse_postorder(graph);
  std::vector<uint32_t> position(graph.size(), UINT32_MAX);
  for (uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  std::vector<NodeId> collected(graph.size(), kNoNode);
  for (NodeId header : order) {  // outer headers come before inner ones
    Loop loop;
    loop.header = header;
    for (NodeId pred : graph.preds[header]) {
      if (position[pred] == UINT32_MAX) continue;
      bool retreating = position[pred] >= position[header];
      if (retreating && dominators.dominates(header, pred)) loop.latches.push_back(pred);
      if (retreating && !dominators.dominates(header, pred)) forest.irreducible = header;
    }
    if (loop.latches.empty()) continue;
    std::sort(loop.latches.begin(), loop.latches.end());
    loop.latches.erase(std::unique(loop.latches.begin(), loop.latches.end()), loop.latches.end());
    collect_loop(graph, dominators, loop, collected);
    loop.parent = forest.innermost[header];
    loop.depth = loop.parent == UINT32_MAX ? 1 : forest.loops[loop.parent].depth + 1;
    const auto index = static_cast<uint32_t>(forest.loops.size());
    for (NodeId node : loop.nodes) forest.innermost[node] = index;
    forest.loops.push_back(std::move(loop));
  }
  number_trees(forest.loops);
  return forest;
}

NodeNumbers::NodeNumbers(const std::vector<NodeId>& nodes) {
  for (uint32_t i = 0; i < nodes.size(); ++i) sorted_.emplace_back(nodes[i], i);
  std::sort(sorted_.begin(), sorted_.end());
}

uint32_t NodeNumbers::of(NodeId node) const {
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(node, 0U));
  return found != sorted_.end() && found->first == node ? found->second : kNoNode;
}

Graph iteration_graph(const Graph& graph, const LoopForest& loops, uint32_t loop) {
  const Loop& nodes = loops.loops[loop];
  const NodeNumbers index(nodes.nodes);
  const auto after = static_cast<NodeId>(nodes.nodes.size());
  Graph result(nodes.nodes.size() + 1);
  for (uint32_t i = 0; i < after; ++i) {
    for (NodeId succ : graph.succs[nodes.nodes[i]]) {
      const bool stays = loops.contains(loop, succ) && succ != nodes.header;
      result.add_edge(i, stays ? index.of(succ) : after);
    }
  }
  return result;
}

Reconvergence::Reconvergence(const Graph& graph, const LoopForest& loops)
    : graph_(graph),
      loops_(loops),
      whole_(post_dominators(graph)),
      iterations_(loops.loops.size()) {}

bool Reconvergence::always_reaches(NodeId from, NodeId to) {
  uint32_t loop = loops_.innermost[to];
  while (loop != UINT32_MAX && !loops_.contains(loop, from)) loop = loops_.loops[loop].parent;
  if (loop == UINT32_MAX) return whole_.dominates(to, from);
  auto& iteration = iterations_[loop];
  if (iteration == nullptr) {
    iteration = std::make_unique<Iteration>();
    iteration->index = NodeNumbers(loops_.loops[loop].nodes);
    iteration->post = post_dominators(iteration_graph(graph_, loops_, loop));
  }
  return iteration->post.dominates(iteration->index.of(to), iteration->index.of(from));
}

}  // namespace km::simt
