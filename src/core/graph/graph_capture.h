// Begin and end of captures, and the nodes that captured work becomes.
#pragma once

#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/stream/stream.h"

namespace km {

Status begin_capture(Stream& stream);
/// Captures into a graph of the stream's context. The first nodes depend on `nodes`, which the
/// graph must have.
Status begin_capture_into(Stream& stream, Ref<Graph> graph, std::span<const uint64_t> nodes);
/// Sets the dependencies of the stream's next node to `nodes`, or adds them.
Status capture_depend_on(Stream& stream, std::span<const uint64_t> nodes, bool adds);
/// Returns the caller's reference to the captured graph.
Result<Ref<Graph>> end_capture(Stream& stream);
km_capture_status capture_status(const Stream& stream);
struct CaptureInfo {
  km_capture_status status = KM_CAPTURE_STATUS_NONE;
  uint64_t id = 0;
  Ref<Graph> graph;             // the graph that the capture fills
  std::vector<uint64_t> nodes;  // the dependencies of the stream's next node
};
CaptureInfo capture_info(const Stream& stream);
/// Appends a node after the last ones of the stream's capture.
Status capture_work(Stream& stream, const SharedWork& work);
/// Adds a call's work to the stream's capture instead of queueing it.
Status capture_result(Stream& stream, Result<SharedWork> work);
/// Invalidates captures into a graph that is being destroyed.
void invalidate_captures(const Graph& into);

}  // namespace km
