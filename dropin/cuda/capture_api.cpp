// Capturing streams into graphs.
#include "core/capture.h"
#include "dropin/cuda/graph.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult begin(CUstream handle, CUstreamCaptureMode mode) {
  if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
    return fail(CUDA_ERROR_INVALID_VALUE, "there is no capture mode %d", mode);
  }
  StreamUse stream;
  CU_TRY(stream.get(handle));
  if (stream->kind() == dropin::Stream::Kind::kLegacy) {
    return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy stream cannot be captured");
  }
  CU_CHECK(begin_capture(stream.core()));
  return CUDA_SUCCESS;
}

CUresult end(CUstream handle, CUgraph* out) {
  CU_REQUIRE(out);
  *out = nullptr;
  StreamUse stream;
  CU_TRY(stream.get(handle));
  CU_ASSIGN(Ref<km::Graph> graph, end_capture(stream.core()));
  *out = stream->context().publish_captured(std::move(graph));
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

/// The stream of a query: asking the legacy stream while another is captured is an error in CUDA.
CUresult get_for_query(CUstream handle, StreamUse* out) {
  CU_TRY(out->get(handle));
  const km::Context& context = out->core().context();
  if ((*out)->kind() == dropin::Stream::Kind::kLegacy &&
      const_cast<km::Context&>(context).captures().count.load() != 0) {
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
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
  // Lives until the next call on this thread, as in CUDA until the next call on the stream.
  static thread_local std::vector<CUgraphNode> nodes;
  static thread_local std::vector<CUgraphEdgeData> edges;
  const CUgraph graph = stream->context().publish_captured(info.graph);
  const Pin<dropin::Graph> pinned(graph);
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
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::swap(thread_mode, *mode);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
