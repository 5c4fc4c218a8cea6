#include "dropin/cudart/graph/graph_edges.h"

#include "dropin/cudart/frame/call.h"
#include "dropin/cudart/graph/graph_params.h"

namespace km::cudart {

cudaError_t add_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                     const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* params) {
  LIB_REQUIRE(params);
  CUgraphNodeParams given{};
  LIB_TRY(driver_params(*params, &given));
  LIB_TRY(driver.cuGraphAddNode_v2(out, graph, after, edges, count, &given));
  take_results(given, params);
  return cudaSuccess;
}

}  // namespace km::cudart
