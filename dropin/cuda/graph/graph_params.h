// CUgraphNodeParams: parameters of nodes of whatever type.
#pragma once

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

/// `old`: what the node has had, null: a new node of `parent`. Some parameters are written.
CUresult work_of(Context& context, CUgraphNodeParams& params, const GraphWork* old, Graph* parent,
                 SharedWork* out);
CUresult read_params(NodeUse& use, CUgraphNodeParams* out);

/// Refuses edges that say more than their ends: only the default is there.
CUresult check_edges(const CUgraphEdgeData* edges, size_t count);
/// `parent` (null: none) keeps what the child looks after.
CUresult child_graph_work_of(CUgraph handle, Graph* parent, SharedWork* out);
/// Adds a child that becomes a part of the graph, instead of a copy of it.
CUresult move_child(Graph& graph, const CUgraphNode* dependencies, size_t count, CUgraph child,
                    CUgraphNode* out);
/// The work of a node of the two types that have an event.
CUresult event_work_of(Context& context, CUgraphNodeType type, CUevent event, SharedWork* out);
CUevent event_of(const GraphWork& work);
/// Adds that work as a node of what is captured.
CUresult capture_event(Stream& stream, CUgraphNodeType type, CUevent event);

}  // namespace km::dropin
