// Captures and their graphs: their begin and end, and the nodes that work queued meanwhile becomes.
#pragma once

#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/stream/stream.h"

namespace km {

Status begin_capture(Stream& stream);
/// Into a graph of the stream's context, after nodes of it.
Status begin_capture_into(Stream& stream, Ref<Graph> graph, std::span<const uint64_t> nodes);
/// Has the stream's next node run after these nodes only, or after these too.
Status capture_depend_on(Stream& stream, std::span<const uint64_t> nodes, bool adds);
/// The caller's reference.
Result<Ref<Graph>> end_capture(Stream& stream);
km_capture_status capture_status(const Stream& stream);
struct CaptureInfo {
  km_capture_status status = KM_CAPTURE_STATUS_NONE;
  uint64_t id = 0;
  Ref<Graph> graph;             // what is captured so far
  std::vector<uint64_t> nodes;  // what the stream's next node will run after
};
CaptureInfo capture_info(const Stream& stream);
/// Appends a node to the stream's part of the graph.
Status capture_work(Stream& stream, const SharedWork& work);
/// Adds the work of a call to the capture of its stream, in place of queueing it.
Status capture_result(Stream& stream, Result<SharedWork> work);
/// Invalidates captures into a graph that ends.
void invalidate_captures(const Graph& into);

}  // namespace km
