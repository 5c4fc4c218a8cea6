// Adds nodes of any type, with data on their incoming edges.
#pragma once

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

/// Adds a node and stores the driver's outputs in `params`.
cudaError_t add_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                     const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* params);

}  // namespace km::cudart
