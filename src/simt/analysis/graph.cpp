#include "simt/analysis/graph.h"

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

// Kosaraju: backwards from the nodes in reverse postorder.
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

// Cooper, Harvey, Kennedy: "A simple, fast dominance algorithm".
DominatorTree::DominatorTree(const Graph& graph, NodeId entry)
    : parent_(graph.size(), kNoNode),
      children_(graph.size()),
      first_(graph.size()),
      last_(graph.size()),
      entry_(entry) {
  auto order = reverse_postorder(graph, entry);
  std::vector<uint32_t> position(graph.size(), UINT32_MAX);
  for (uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  auto intersect = [&](NodeId a, NodeId b) {
    while (a != b) {
      while (position[a] > position[b]) a = parent_[a];
      while (position[b] > position[a]) b = parent_[b];
    }
    return a;
  };
  parent_[entry] = entry;
  for (bool changed = true; changed;) {
    changed = false;
    for (NodeId node : order) {
      if (node == entry) continue;
      NodeId idom = kNoNode;
      for (NodeId pred : graph.preds[node]) {
        if (position[pred] == UINT32_MAX || parent_[pred] == kNoNode) continue;
        idom = idom == kNoNode ? pred : intersect(idom, pred);
      }
      if (idom != parent_[node]) {
        parent_[node] = idom;
        changed = true;
      }
    }
  }
  parent_[entry] = kNoNode;
  for (NodeId node : order) {
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

std::vector<std::vector<NodeId>> DominatorTree::frontiers(const Graph& graph) const {
  std::vector<std::vector<NodeId>> result(graph.size());
  for (NodeId node = 0; node < graph.size(); ++node) {
    if (!reachable(node)) continue;
    for (NodeId pred : graph.preds[node]) {
      if (!reachable(pred)) continue;
      for (NodeId runner = pred; runner != kNoNode && runner != parent_[node];
           runner = parent_[runner]) {
        if (result[runner].empty() || result[runner].back() != node) {
          result[runner].push_back(node);
        }
      }
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

bool LoopForest::contains(uint32_t loop, NodeId node) const {
  for (uint32_t l = innermost[node]; l != UINT32_MAX; l = loops[l].parent) {
    if (l == loop) return true;
  }
  return false;
}

namespace {

void collect_loop(const Graph& graph, const DominatorTree& dominators, Loop& loop) {
  std::vector<uint8_t> inside(graph.size());
  inside[loop.header] = 1;
  loop.nodes.push_back(loop.header);
  std::vector<NodeId> stack = loop.latches;
  while (!stack.empty()) {
    NodeId node = stack.back();
    stack.pop_back();
    if (inside[node]) continue;
    inside[node] = 1;
    loop.nodes.push_back(node);
    for (NodeId pred : graph.preds[node]) {
      if (dominators.reachable(pred)) stack.push_back(pred);
    }
  }
}

}  // namespace

LoopForest find_loops(const Graph& graph, const DominatorTree& dominators) {
  LoopForest forest;
  forest.innermost.assign(graph.size(), UINT32_MAX);
  auto order = reverse_postorder(graph);
  std::vector<uint32_t> position(graph.size(), UINT32_MAX);
  for (uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
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
    collect_loop(graph, dominators, loop);
    loop.parent = forest.innermost[header];
    loop.depth = loop.parent == UINT32_MAX ? 1 : forest.loops[loop.parent].depth + 1;
    const auto index = static_cast<uint32_t>(forest.loops.size());
    for (NodeId node : loop.nodes) forest.innermost[node] = index;
    forest.loops.push_back(std::move(loop));
  }
  return forest;
}

Graph iteration_graph(const Graph& graph, const LoopForest& loops, uint32_t loop) {
  const Loop& nodes = loops.loops[loop];
  std::vector<uint32_t> index(graph.size(), kNoNode);
  for (uint32_t i = 0; i < nodes.nodes.size(); ++i) index[nodes.nodes[i]] = i;
  const auto after = static_cast<NodeId>(nodes.nodes.size());
  Graph result(nodes.nodes.size() + 1);
  for (uint32_t i = 0; i < after; ++i) {
    for (NodeId succ : graph.succs[nodes.nodes[i]]) {
      const bool stays = index[succ] != kNoNode && succ != nodes.header;
      result.add_edge(i, stays ? index[succ] : after);
    }
  }
  return result;
}

Meeting::Meeting(const Graph& graph, const LoopForest& loops)
    : graph_(graph),
      loops_(loops),
      whole_(post_dominators(graph)),
      iterations_(loops.loops.size()) {}

bool Meeting::always_reaches(NodeId from, NodeId to) {
  uint32_t loop = loops_.innermost[to];
  while (loop != UINT32_MAX && !loops_.contains(loop, from)) loop = loops_.loops[loop].parent;
  if (loop == UINT32_MAX) return whole_.dominates(to, from);
  auto& iteration = iterations_[loop];
  if (iteration == nullptr) {
    iteration = std::make_unique<Iteration>();
    iteration->index.assign(graph_.size(), kNoNode);
    const auto& nodes = loops_.loops[loop].nodes;
    for (uint32_t i = 0; i < nodes.size(); ++i) iteration->index[nodes[i]] = i;
    iteration->post = post_dominators(iteration_graph(graph_, loops_, loop));
  }
  return iteration->post.dominates(iteration->index[to], iteration->index[from]);
}

}  // namespace km::simt
