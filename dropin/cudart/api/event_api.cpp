// Events.
#include "dropin/cudart/device/context.h"

namespace km::cudart {

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* out) {
  return call_context([&] { return driver.cuEventCreate(out, 0); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  return call_context([&] { return driver.cuEventCreate(out, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call_context([&] { return driver.cuEventDestroy_v2(event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call_context([&] { return driver.cuEventRecord(event, stream); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return call_context([&] { return driver.cuEventRecordWithFlags(event, stream, flags); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call_context([&] { return driver.cuEventQuery(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call_context([&] { return driver.cuEventSynchronize(event); });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return call_context([&] { return driver.cuEventElapsedTime(ms, start, end); });
}

}  // extern "C"

}  // namespace km::cudart
