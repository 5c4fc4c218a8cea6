// CUgraphNodeParams: node parameters of every type.
#pragma once

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

/// Makes a node's work from its parameters, some of which are outputs. `old` is the node's work so
/// far; null for a new node of `parent`.
CUresult work_of(Context& context, CUgraphNodeParams& params, const GraphWork* old, Graph* parent,
                 SharedWork* out);
CUresult read_params(NodeUse& use, CUgraphNodeParams* out);

/// Fails if an edge has data other than the default.
CUresult check_edges(const CUgraphEdgeData* edges, size_t count);
/// Makes a child graph's work. `parent` also keeps the child's user objects, unless it is null.
CUresult child_graph_work_of(CUgraph handle, Graph* parent, SharedWork* out);
/// Adds a child graph by moving it into `graph` instead of copying it.
CUresult move_child(Graph& graph, const CUgraphNode* dependencies, size_t count, CUgraph child,
                    CUgraphNode* out);
/// Makes the work of an event record or event wait node.
CUresult event_work_of(Context& context, CUgraphNodeType type, CUevent event, SharedWork* out);
CUevent event_of(const GraphWork& work);
/// Adds that work to the stream's capture as a node.
CUresult capture_event(Stream& stream, CUgraphNodeType type, CUevent event);

}  // namespace km::dropin
