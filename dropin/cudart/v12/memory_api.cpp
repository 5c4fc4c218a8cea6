// Memory functions of CUDA 12: locations are device ordinals, and batches report the copy that
// failed.
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/v12/types.h"

namespace km::cudart {

extern "C" {

cudaError_t cudaMemAdvise(const void* address, size_t count, cudaMemoryAdvise advice, int device) {
  return call_context(
      [&] { return driver.cuMemAdvise(device_address(address), count, advice, device); });
}

cudaError_t cudaMemAdvise_v2(const void* address, size_t count, cudaMemoryAdvise advice,
                             cudaMemLocation location) {
  return call_context(
      [&] { return driver.cuMemAdvise_v2(device_address(address), count, advice, location); });
}

cudaError_t cudaMemPrefetchAsync(const void* address, size_t count, int device,
                                 cudaStream_t stream) {
  return call_context(
      [&] { return driver.cuMemPrefetchAsync(device_address(address), count, device, stream); });
}

cudaError_t cudaMemPrefetchAsync_v2(const void* address, size_t count, cudaMemLocation location,
                                    unsigned flags, cudaStream_t stream) {
  return call_context([&] {
    return driver.cuMemPrefetchAsync_v2(device_address(address), count, location, flags, stream);
  });
}

cudaError_t cudaMemcpyBatchAsync(void** targets, void** sources, size_t* sizes, size_t count,
                                 cudaMemcpyAttributes* attributes, size_t* indices,
                                 size_t attribute_count, size_t* failed, cudaStream_t stream) {
  return call_context([&] {
    return driver.cuMemcpyBatchAsync(reinterpret_cast<CUdeviceptr*>(targets),
                                     reinterpret_cast<CUdeviceptr*>(sources), sizes, count,
                                     attributes, indices, attribute_count, failed, stream);
  });
}

cudaError_t cudaMemcpy3DBatchAsync(size_t count, cudaMemcpy3DBatchOp* operations, size_t* failed,
                                   unsigned long long flags, cudaStream_t stream) {
  return call_context(
      [&] { return driver.cuMemcpy3DBatchAsync(count, operations, failed, flags, stream); });
}

}  // extern "C"

}  // namespace km::cudart
