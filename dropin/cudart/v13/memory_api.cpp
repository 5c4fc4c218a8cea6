// Memory functions of CUDA 13: locations, batches, and pools of locations.
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/v13/types.h"

namespace km::cudart {

namespace {

// Arrays of pointers and of device addresses have the same layout.
CUdeviceptr* addresses(const void* pointers) {
  return const_cast<CUdeviceptr*>(static_cast<const CUdeviceptr*>(pointers));
}

}  // namespace

extern "C" {

cudaError_t cudaMemAdvise(const void* address, size_t count, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return call_context(
      [&] { return driver.cuMemAdvise_v2(device_address(address), count, advice, location); });
}

cudaError_t cudaMemPrefetchAsync(const void* address, size_t count, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return call_context([&] {
    return driver.cuMemPrefetchAsync_v2(device_address(address), count, location, flags, stream);
  });
}

cudaError_t cudaMemcpyBatchAsync(void* const* targets, const void* const* sources,
                                 const size_t* sizes, size_t count,
                                 cudaMemcpyAttributes* attributes, size_t* indices,
                                 size_t attribute_count, cudaStream_t stream) {
  return call_context([&] {
    return driver.cuMemcpyBatchAsync_v2(addresses(targets), addresses(sources),
                                        const_cast<size_t*>(sizes), count, attributes, indices,
                                        attribute_count, stream);
  });
}

cudaError_t cudaMemcpy3DBatchAsync(size_t count, cudaMemcpy3DBatchOp* operations,
                                   unsigned long long flags, cudaStream_t stream) {
  return call_context(
      [&] { return driver.cuMemcpy3DBatchAsync_v2(count, operations, flags, stream); });
}

cudaError_t cudaMemcpyWithAttributesAsync(void* target, const void* source, size_t size_bytes,
                                          cudaMemcpyAttributes* attributes, cudaStream_t stream) {
  return call_context([&] {
    return driver.cuMemcpyWithAttributesAsync(device_address(target), device_address(source),
                                              size_bytes, attributes, stream);
  });
}

cudaError_t cudaMemcpy3DWithAttributesAsync(cudaMemcpy3DBatchOp* operation,
                                            unsigned long long flags, cudaStream_t stream) {
  return call_context(
      [&] { return driver.cuMemcpy3DWithAttributesAsync(operation, flags, stream); });
}

cudaError_t cudaMemPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                      cudaMemLocation* locations, size_t* indices,
                                      size_t location_count, unsigned long long flags,
                                      cudaStream_t stream) {
  return call_context([&] {
    return driver.cuMemPrefetchBatchAsync(addresses(pointers), sizes, count, locations, indices,
                                          location_count, flags, stream);
  });
}

cudaError_t cudaMemDiscardBatchAsync(void** pointers, size_t* sizes, size_t count,
                                     unsigned long long flags, cudaStream_t stream) {
  return call_context([&] {
    return driver.cuMemDiscardBatchAsync(addresses(pointers), sizes, count, flags, stream);
  });
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                                cudaMemLocation* locations, size_t* indices,
                                                size_t location_count, unsigned long long flags,
                                                cudaStream_t stream) {
  return call_context([&] {
    return driver.cuMemDiscardAndPrefetchBatchAsync(addresses(pointers), sizes, count, locations,
                                                    indices, location_count, flags, stream);
  });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* out, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  return call_driver([&] { return driver.cuMemGetDefaultMemPool(out, location, type); });
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* out, cudaMemLocation* location,
                              cudaMemAllocationType type) {
  return call_driver([&] { return driver.cuMemGetMemPool(out, location, type); });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t pool) {
  return call_driver([&] { return driver.cuMemSetMemPool(location, type, pool); });
}

cudaError_t cudaMemGetLocationInfo(void* address, size_t size_bytes, size_t summary_bytes,
                                   size_t sample_bytes, cudaMemLocation* out) {
  return call_context([&] {
    return driver.cuMemGetLocationInfo(device_address(address), size_bytes, summary_bytes,
                                       sample_bytes, out);
  });
}

}  // extern "C"

}  // namespace km::cudart
