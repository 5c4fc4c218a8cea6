// Managed memory: advice, prefetches and attributes of ranges.
#include "dropin/cudart/device/context.h"

namespace km::cudart {

extern "C" {

cudaError_t cudaMemRangeGetAttribute(void* out, size_t size_bytes, cudaMemRangeAttribute attribute,
                                     const void* address, size_t count) {
  return call_context([&] {
    return driver.cuMemRangeGetAttribute(out, size_bytes, attribute, device_address(address),
                                         count);
  });
}

cudaError_t cudaMemRangeGetAttributes(void** out, size_t* sizes_bytes,
                                      cudaMemRangeAttribute* attributes, size_t attribute_count,
                                      const void* address, size_t count) {
  return call_context([&] {
    return driver.cuMemRangeGetAttributes(out, sizes_bytes, attributes, attribute_count,
                                          device_address(address), count);
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* address, size_t size_bytes,
                                     unsigned flags) {
  return call_context([&] {
    return driver.cuStreamAttachMemAsync(stream, device_address(address), size_bytes, flags);
  });
}

}  // extern "C"

}  // namespace km::cudart
