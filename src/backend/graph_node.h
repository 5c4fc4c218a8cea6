// Visits a graph node's operation by its type. No other code maps kinds of nodes to the members of
// kmb_graph_node's union.
#pragma once

#include <utility>

#include "backend/interface.h"
#include "base/match.h"

namespace km {

struct EmptyNode {};
struct EventRecordNode {
  kmb_event* event;
};
struct EventWaitNode {
  kmb_event* event;
};
/// A kind of node that this build does not know.
struct UnknownNode {};

/// Calls the case for the type of the node's operation: one of the kmb_..._node structs,
/// kmb_copy_3d (rows), kmb_fill_2d, kmb_branch or a struct above. A missing case is a compile
/// error.
template <class... Cases>
decltype(auto) match_node(const kmb_graph_node& node, Cases&&... cases) {
  const Overloads visitor{std::forward<Cases>(cases)...};
  switch (node.kind) {
    case KM_GRAPH_NODE_EMPTY:
      return visitor(EmptyNode{});
    case KM_GRAPH_NODE_KERNEL:
      return visitor(node.kernel);
    case KM_GRAPH_NODE_COPY:
    case KM_GRAPH_NODE_UPLOAD:
    case KM_GRAPH_NODE_DOWNLOAD:
      return visitor(node.copy);
    case KM_GRAPH_NODE_COPY_3D:
    case KM_GRAPH_NODE_UPLOAD_3D:
    case KM_GRAPH_NODE_DOWNLOAD_3D:
      return visitor(node.rows);
    case KM_GRAPH_NODE_COPY_PEER:
      return visitor(node.peer);
    case KM_GRAPH_NODE_FILL:
      return visitor(node.fill);
    case KM_GRAPH_NODE_FILL_2D:
      return visitor(node.fill_2d);
    case KM_GRAPH_NODE_HOST:
      return visitor(node.host);
    case KM_GRAPH_NODE_BLAS:
      return visitor(node.blas);
    case KM_GRAPH_NODE_LIBRARY:
      return visitor(node.library);
    case KMB_GRAPH_NODE_TASK:
      return visitor(node.task);
    case KM_GRAPH_NODE_MEMORY_OPS:
      return visitor(node.memory_ops);
    case KMB_GRAPH_NODE_EVENT_RECORD:
      return visitor(EventRecordNode{node.event});
    case KMB_GRAPH_NODE_EVENT_WAIT:
      return visitor(EventWaitNode{node.event});
    case KMB_GRAPH_NODE_BRANCH:
      return visitor(node.branch);
    default:
      return visitor(UnknownNode{});
  }
}

}  // namespace km
