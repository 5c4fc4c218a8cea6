#include "simt/analysis/control_dependence.h"

#include <algorithm>

namespace km::simt {

std::vector<std::vector<NodeId>> control_dependents(const Graph& graph, const DominatorTree& post) {
  std::vector<std::vector<NodeId>> result(graph.size());
  for (NodeId branch = 0; branch < graph.size(); ++branch) {
    if (graph.succs[branch].size() < 2) continue;
    auto& dependents = result[branch];
    const NodeId meet = post.parent(branch);
    for (NodeId succ : graph.succs[branch]) {
      for (NodeId node = succ; node != meet && node < graph.size(); node = post.parent(node)) {
        dependents.push_back(node);
      }
    }
    std::sort(dependents.begin(), dependents.end());
    dependents.erase(std::unique(dependents.begin(), dependents.end()), dependents.end());
  }
  return result;
}

}  // namespace km::simt
