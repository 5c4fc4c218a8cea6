// Streams: creation, waits, callbacks and attributes.
#include "dropin/cudart/device/context.h"

namespace km::cudart {

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* out) {
  return call_context([&] { return driver.cuStreamCreate(out, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) {
  return call_context([&] { return driver.cuStreamCreate(out, flags); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int priority) {
  return call_context([&] { return driver.cuStreamCreateWithPriority(out, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call_context([&]() -> cudaError_t {
    // The driver would take a null stream for the default stream, which cannot be destroyed.
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return driver.cuStreamDestroy_v2(stream);
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call_context([&] { return driver.cuStreamSynchronize(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call_context([&] { return driver.cuStreamQuery(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call_context([&] { return driver.cuStreamWaitEvent(stream, event, flags); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  return call_context([&] { return driver.cuStreamAddCallback(stream, callback, data, flags); });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* out) {
  return call_context([&] { return driver.cuStreamGetPriority(stream, out); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* out) {
  return call_context([&] { return driver.cuStreamGetFlags(stream, out); });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* out) {
  return call_context([&] { return driver.cuStreamGetId(stream, out); });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* out) {
  return call_context([&] { return driver.cuStreamGetDevice(stream, out); });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t target, cudaStream_t source) {
  return call_context([&] { return driver.cuStreamCopyAttributes(target, source); });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* out) {
  return call_context([&] { return driver.cuStreamGetAttribute(stream, attribute, out); });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
  return call_context([&] { return driver.cuStreamSetAttribute(stream, attribute, value); });
}

}  // extern "C"

}  // namespace km::cudart
