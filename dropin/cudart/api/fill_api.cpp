// Fills.
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/memory/copy.h"

namespace km::cudart {

namespace {

/// Fills a box: all layers in one call if they are contiguous, otherwise layer by layer.
cudaError_t fill_box(cudaPitchedPtr target, int value, cudaExtent extent, Order order,
                     const char* function = __builtin_FUNCTION()) {
  return call_context(
      [&]() -> cudaError_t {
        if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
        if (extent.width > target.pitch || extent.height > target.ysize)
          return cudaErrorInvalidValue;
        if (extent.height == target.ysize) {
          return fill_rows(target.ptr, target.pitch, value, extent.width,
                           extent.height * extent.depth, order);
        }
        auto* layer = static_cast<char*>(target.ptr);
        for (size_t z = 0; z < extent.depth; ++z, layer += target.pitch * target.ysize) {
          LIB_TRY(fill_rows(layer, target.pitch, value, extent.width, extent.height, order));
        }
        return cudaSuccess;
      },
      function);
}

}  // namespace

extern "C" {

cudaError_t cudaMemset(void* target, int value, size_t size_bytes) {
  return call_context([&] { return fill(target, value, size_bytes, kBlocking); });
}

cudaError_t cudaMemset_ptds(void* target, int value, size_t size_bytes) {
  return call_context([&] { return fill(target, value, size_bytes, kBlockingPerThread); });
}

cudaError_t cudaMemsetAsync(void* target, int value, size_t size_bytes, cudaStream_t stream) {
  return call_context([&] { return fill(target, value, size_bytes, on(stream)); });
}

cudaError_t cudaMemset2D(void* target, size_t pitch, int value, size_t width_bytes, size_t height) {
  return call_context(
      [&] { return fill_rows(target, pitch, value, width_bytes, height, kBlocking); });
}

cudaError_t cudaMemset2D_ptds(void* target, size_t pitch, int value, size_t width_bytes,
                              size_t height) {
  return call_context(
      [&] { return fill_rows(target, pitch, value, width_bytes, height, kBlockingPerThread); });
}

cudaError_t cudaMemset2DAsync(void* target, size_t pitch, int value, size_t width_bytes,
                              size_t height, cudaStream_t stream) {
  return call_context(
      [&] { return fill_rows(target, pitch, value, width_bytes, height, on(stream)); });
}

cudaError_t cudaMemset3D(cudaPitchedPtr target, int value, cudaExtent extent) {
  return fill_box(target, value, extent, kBlocking);
}

cudaError_t cudaMemset3D_ptds(cudaPitchedPtr target, int value, cudaExtent extent) {
  return fill_box(target, value, extent, kBlockingPerThread);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr target, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return fill_box(target, value, extent, on(stream));
}

}  // extern "C"

}  // namespace km::cudart
