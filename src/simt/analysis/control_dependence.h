// Control dependence: the branches that decide whether a block is executed.
#pragma once

#include <vector>

#include "simt/kernel/graph.h"

namespace km::simt {

/// For each node of `graph`, the nodes that are control dependent on its branch: they are executed
/// on one of its sides and not on another (Ferrante, Ottenstein, Warren 1987). `post` must be the
/// post_dominators of the same graph.
std::vector<std::vector<NodeId>> control_dependents(const Graph& graph, const DominatorTree& post);

}  // namespace km::simt
