// Which branches decide whether a block is executed.
#pragma once

#include <vector>

#include "simt/analysis/graph.h"

namespace km::simt {

/// For each node of `graph`, the nodes that its branch decides on: they are executed after one of
/// its sides and not after another (Ferrante, Ottenstein, Warren 1987). `post`: post_dominators of
/// the same graph.
std::vector<std::vector<NodeId>> control_dependents(const Graph& graph, const DominatorTree& post);

}  // namespace km::simt
