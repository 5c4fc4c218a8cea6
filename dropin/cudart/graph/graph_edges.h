// Nodes of any type, with data on the edges that lead to them.
#pragma once

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

/// The node is added; results of the driver go back into `params`.
cudaError_t add_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                     const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* params);

}  // namespace km::cudart
