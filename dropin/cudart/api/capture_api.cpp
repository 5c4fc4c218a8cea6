// Stream capture.
#include "dropin/cudart/device/context.h"

namespace km::cudart {

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call_context([&] { return driver.cuStreamBeginCapture_v2(stream, mode); });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* nodes,
                                          const cudaGraphEdgeData* edges, size_t count,
                                          cudaStreamCaptureMode mode) {
  return call_context(
      [&] { return driver.cuStreamBeginCaptureToGraph(stream, graph, nodes, edges, count, mode); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* out) {
  return call_context([&] { return driver.cuStreamEndCapture(stream, out); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* out) {
  return call_context([&] { return driver.cuStreamIsCapturing(stream, out); });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call_context([&] { return driver.cuThreadExchangeStreamCaptureMode(mode); });
}

}  // extern "C"

}  // namespace km::cudart
