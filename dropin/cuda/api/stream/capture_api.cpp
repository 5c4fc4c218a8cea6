// Stream capture.
#include "base/thread/thread_object.h"
#include "core/graph/graph_capture.h"
#include "core/stream/stream_capture.h"
#include "dropin/cuda/graph/graph_params.h"
#include "dropin/cuda/stream/capture_rules.h"
#include "dropin/cuda/stream/context_streams.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult get_to_capture(CUstream handle, CUstreamCaptureMode mode, StreamUse* out) {
  if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
    return fail(CUDA_ERROR_INVALID_VALUE, "there is no capture mode %d", mode);
  }
  CU_TRY(out->get(handle));
  if ((*out)->kind() == dropin::Stream::Kind::kLegacy) {
    return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy stream cannot be captured");
  }
  return CUDA_SUCCESS;
}

CUresult begin(CUstream handle, CUstreamCaptureMode mode) {
  StreamUse stream;
  CU_TRY(get_to_capture(handle, mode, &stream));
  CU_CHECK(begin_capture(stream.core()));
  note_capture_begin(*stream, mode);
  return CUDA_SUCCESS;
}

CUresult begin_into(CUstream handle, CUgraph graph_handle, const CUgraphNode* dependencies,
                    const CUgraphEdgeData* edges, size_t count, CUstreamCaptureMode mode) {
  StreamUse stream;
  CU_TRY(get_to_capture(handle, mode, &stream));
  CU_GET(Graph, graph, graph_handle);
  std::vector<uint64_t> nodes;
  CU_TRY(check_edges(edges, count));
  CU_TRY(graph->numbers_of(dependencies, count, &nodes));
  CU_CHECK(begin_capture_into(stream.core(), Ref<km::Graph>::share(graph->core()), nodes));
  note_capture_begin(*stream, mode);
  note_captured(*graph);
  return CUDA_SUCCESS;
}

/// The error if another thread has ended the graph's handle after the stream's capture was found.
CUresult captured_graph_is_gone() {
  return fail(CUDA_ERROR_INVALID_VALUE, "another thread is destroying the captured graph");
}

CUresult update_dependencies(CUstream handle, const CUgraphNode* dependencies,
                             const CUgraphEdgeData* edges, size_t count, unsigned flags) {
  if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u", flags);
  }
  CU_TRY(check_edges(edges, count));
  StreamUse stream;
  CU_TRY(stream.get(handle));
  const CaptureInfo info = capture_info(stream.core());
  if (info.status != KM_CAPTURE_STATUS_ACTIVE) {
    return fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not captured, or its capture is invalid");
  }
  const Pin<dropin::Graph> graph(publish_captured(stream->context(), info.graph));
  if (!graph) return captured_graph_is_gone();
  std::vector<uint64_t> nodes;
  CU_TRY(graph->numbers_of(dependencies, count, &nodes));
  CU_CHECK(capture_depend_on(stream.core(), nodes, flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  return CUDA_SUCCESS;
}

/// Ends a capture. `out` may be null if the program supplied the graph
/// (cuStreamBeginCaptureToGraph).
CUresult end(CUstream handle, CUgraph* out) {
  if (out != nullptr) *out = nullptr;
  StreamUse stream;
  CU_TRY(stream.get(handle));
  if (out == nullptr) {
    const CaptureInfo info = capture_info(stream.core());
    const bool is_known = info.graph && knows_captured(*info.graph);
    if (!is_known) return fail(CUDA_ERROR_INVALID_VALUE, "out is null, and nobody has the graph");
  }
  CU_TRY(require_capturing_thread(*stream));
  auto ended = end_capture(stream.core());
  if (!stream.core().is_capturing()) {
    note_capture_end(*stream);
  } else if (!ended) {  // begun in another stream: ending it here invalidates it
    static_cast<void>(refuse_capture(stream.core(), "the end in another stream of"));
  }
  CU_ASSIGN(Ref<km::Graph> graph, std::move(ended));
  const CUgraph known = publish_captured(stream->context(), std::move(graph));
  if (out != nullptr) *out = known;
  return CUDA_SUCCESS;
}

CUstreamCaptureStatus status_of(km_capture_status status) {
  switch (status) {
    case KM_CAPTURE_STATUS_ACTIVE:
      return CU_STREAM_CAPTURE_STATUS_ACTIVE;
    case KM_CAPTURE_STATUS_INVALIDATED:
      return CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    default:
      return CU_STREAM_CAPTURE_STATUS_NONE;
  }
}

/// The stream for a capture query. CUDA reports an error for the legacy stream while a stream that
/// it waits for is being captured.
CUresult get_for_query(CUstream handle, StreamUse* out) {
  CU_TRY(out->get(handle));
  if ((*out)->kind() == dropin::Stream::Kind::kLegacy &&
      ContextStreams::of((*out)->context()).captures_blocking_stream()) {
    return fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                "the legacy stream would wait for a stream that is captured");
  }
  return CUDA_SUCCESS;
}

struct InfoOut {
  CUstreamCaptureStatus* status;
  cuuint64_t* id;
  CUgraph* graph;
  const CUgraphNode** nodes;
  const CUgraphEdgeData** edges;
  size_t* count;
};

/// Arrays that cuStreamGetCaptureInfo returns, valid until the next call on this thread. CUDA keeps
/// them until the next call on the stream.
struct ToldNodes {
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphEdgeData> edges;
};

CUresult get_info(CUstream handle, const InfoOut& out) {
  CU_REQUIRE(out.status);
  StreamUse stream;
  CU_TRY(get_for_query(handle, &stream));
  const CaptureInfo info = capture_info(stream.core());
  *out.status = status_of(info.status);
  if (info.status != KM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  if (out.id != nullptr) *out.id = info.id;
  if (out.graph == nullptr && out.nodes == nullptr) {
    if (out.count != nullptr) *out.count = info.nodes.size();
    return CUDA_SUCCESS;
  }
  auto& [nodes, edges] = ThreadObject<ToldNodes>::get();
  const CUgraph graph = publish_captured(stream->context(), info.graph);
  const Pin<dropin::Graph> pinned(graph);
  if (!pinned) return captured_graph_is_gone();
  nodes.clear();
  for (const uint64_t node : info.nodes) nodes.push_back(pinned->handle_of_node(node));
  edges.assign(nodes.size(), CUgraphEdgeData{});
  if (out.graph != nullptr) *out.graph = graph;
  if (out.nodes != nullptr) *out.nodes = nodes.data();
  if (out.edges != nullptr) *out.edges = edges.data();
  if (out.count != nullptr) *out.count = nodes.size();
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return guard(__func__, [&] { return begin(stream, mode); });
}

CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode) {
  return cuStreamBeginCapture_v2(per_thread(stream), mode);
}

CUresult cuStreamBeginCapture(CUstream stream) {
  return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamBeginCapture_ptsz(CUstream stream) {
  return cuStreamBeginCapture(per_thread(stream));
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                     const CUgraphNode* dependencies, const CUgraphEdgeData* edges,
                                     size_t count, CUstreamCaptureMode mode) {
  return guard(__func__,
               [&] { return begin_into(stream, graph, dependencies, edges, count, mode); });
}

CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph,
                                          const CUgraphNode* dependencies,
                                          const CUgraphEdgeData* edges, size_t count,
                                          CUstreamCaptureMode mode) {
  return cuStreamBeginCaptureToGraph(per_thread(stream), graph, dependencies, edges, count, mode);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* dependencies, size_t count,
                                           unsigned int flags) {
  return guard(__func__,
               [&] { return update_dependencies(stream, dependencies, nullptr, count, flags); });
}

CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream stream, CUgraphNode* dependencies,
                                                size_t count, unsigned int flags) {
  return cuStreamUpdateCaptureDependencies(per_thread(stream), dependencies, count, flags);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* dependencies,
                                              const CUgraphEdgeData* edges, size_t count,
                                              unsigned int flags) {
  return guard(__func__,
               [&] { return update_dependencies(stream, dependencies, edges, count, flags); });
}

CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream stream, CUgraphNode* dependencies,
                                                   const CUgraphEdgeData* edges, size_t count,
                                                   unsigned int flags) {
  return cuStreamUpdateCaptureDependencies_v2(per_thread(stream), dependencies, edges, count,
                                              flags);
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return guard(__func__, [&] { return end(stream, graph); });
}

CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph* graph) {
  return cuStreamEndCapture(per_thread(stream), graph);
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(status);
    StreamUse stream;
    CU_TRY(get_for_query(handle, &stream));
    *status = status_of(capture_status(stream.core()));
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus* status) {
  return cuStreamIsCapturing(per_thread(stream), status);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return guard(__func__,
               [&] { return get_info(stream, {status, id, nullptr, nullptr, nullptr, nullptr}); });
}

CUresult cuStreamGetCaptureInfo_ptsz(CUstream stream, CUstreamCaptureStatus* status,
                                     cuuint64_t* id) {
  return cuStreamGetCaptureInfo(per_thread(stream), status, id);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** nodes, size_t* count) {
  return guard(__func__,
               [&] { return get_info(stream, {status, id, graph, nodes, nullptr, count}); });
}

CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream stream, CUstreamCaptureStatus* status,
                                        cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
                                        size_t* count) {
  return cuStreamGetCaptureInfo_v2(per_thread(stream), status, id, graph, nodes, count);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** nodes,
                                   const CUgraphEdgeData** edges, size_t* count) {
  return guard(__func__,
               [&] { return get_info(stream, {status, id, graph, nodes, edges, count}); });
}

CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream, CUstreamCaptureStatus* status,
                                        cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
                                        const CUgraphEdgeData** edges, size_t* count) {
  return cuStreamGetCaptureInfo_v3(per_thread(stream), status, id, graph, nodes, edges, count);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(mode);
    if (*mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no capture mode %d", *mode);
    }
    std::swap(thread_capture_mode(), *mode);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
