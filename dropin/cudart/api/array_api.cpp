// Arrays, on top of the driver's, including the copies that run across the ends of rows.
#include <algorithm>

#include "dropin/cudart/device/context.h"
#include "dropin/cudart/memory/array.h"
#include "dropin/cudart/memory/copy.h"

namespace km::cudart {

namespace {

cudaError_t describe(const cudaChannelFormatDesc* channels, cudaExtent extent, unsigned flags,
                     CUDA_ARRAY3D_DESCRIPTOR* out) {
  LIB_REQUIRE(channels);
  ArrayFormat format{};
  LIB_TRY(driver_format(*channels, &format));
  *out = {extent.width, extent.height, extent.depth, format.format, format.channels, flags};
  return cudaSuccess;
}

CUarray mutable_array(cudaArray_const_t array) { return const_cast<CUarray>(array); }

/// An array's rows, for copies that continue from one row to the next.
struct ArrayRows {
  size_t row_bytes = 0, rows = 0;

  cudaError_t find(cudaArray_const_t array) {
    CUDA_ARRAY3D_DESCRIPTOR shape{};
    size_t texel_bytes = 0;
    LIB_TRY(driver.cuArray3DGetDescriptor_v2(&shape, mutable_array(array)));
    LIB_TRY(element_bytes(mutable_array(array), &texel_bytes));
    row_bytes = shape.Width * texel_bytes;
    rows = std::max<size_t>(shape.Height, 1);
    return cudaSuccess;
  }
  bool hold(const ArrayPlace& place, size_t size_bytes) const {
    return place.x_bytes < row_bytes && place.y < rows &&
           size_bytes <= (rows - place.y) * row_bytes - place.x_bytes;
  }
  /// The number of bytes from a place to the end of its row.
  size_t left(const ArrayPlace& place) const { return row_bytes - place.x_bytes; }
  void advance(ArrayPlace* place, size_t size_bytes) const {
    const size_t x_bytes = place->x_bytes + size_bytes;
    place->y += x_bytes / row_bytes;
    place->x_bytes = x_bytes % row_bytes;
  }
};

/// Divides a run of bytes that crosses rows into rectangles: calls copy_part(place, width, height,
/// offset) for the rest of the first row, all whole rows, and the beginning of the last.
template <class CopyPart>
cudaError_t copy_run(ArrayPlace place, size_t size_bytes, CopyPart&& copy_part) {
  ArrayRows array;
  LIB_TRY(array.find(place.array));
  if (!array.hold(place, size_bytes)) return cudaErrorInvalidValue;
  for (size_t done = 0; done < size_bytes;) {
    const size_t rest = size_bytes - done;
    const bool is_whole = place.x_bytes == 0 && rest >= array.row_bytes;
    const size_t width = std::min(rest, array.left(place));
    const size_t height = is_whole ? rest / array.row_bytes : 1;
    LIB_TRY(copy_part(place, width, height, done));
    done += width * height;
    array.advance(&place, width * height);
  }
  return cudaSuccess;
}

/// Copies a run of bytes between arrays whose rows may differ in length.
cudaError_t run_copy_arrays(ArrayPlace target, ArrayPlace source, size_t size_bytes,
                            cudaMemcpyKind kind, Order order) {
  LIB_TRY(check_device_kind(kind, cudaMemcpyDeviceToDevice));
  ArrayRows to, from;
  LIB_TRY(to.find(target.array));
  LIB_TRY(from.find(source.array));
  if (!to.hold(target, size_bytes) || !from.hold(source, size_bytes)) return cudaErrorInvalidValue;
  for (size_t done = 0; done < size_bytes;) {
    const size_t rest = size_bytes - done;
    const bool is_whole = to.row_bytes == from.row_bytes && target.x_bytes == 0 &&
                          source.x_bytes == 0 && rest >= to.row_bytes;
    const size_t width = std::min({rest, to.left(target), from.left(source)});
    const size_t height = is_whole ? rest / to.row_bytes : 1;
    LIB_TRY(copy_arrays(target, source, width, height, order));
    done += width * height;
    to.advance(&target, width * height);
    from.advance(&source, width * height);
  }
  return cudaSuccess;
}

cudaError_t run_copy_to(cudaArray_t target, size_t x_bytes, size_t y, const void* source,
                        size_t size_bytes, cudaMemcpyKind kind, Order order) {
  const auto* const bytes = static_cast<const char*>(source);
  return copy_run({target, x_bytes, y}, size_bytes,
                  [&](ArrayPlace place, size_t width, size_t height, size_t offset) {
                    return copy_to_array(place, bytes + offset, width, width, height, kind, order);
                  });
}

cudaError_t run_copy_from(void* target, cudaArray_const_t source, size_t x_bytes, size_t y,
                          size_t size_bytes, cudaMemcpyKind kind, Order order) {
  auto* const bytes = static_cast<char*>(target);
  return copy_run({source, x_bytes, y}, size_bytes,
                  [&](ArrayPlace place, size_t width, size_t height, size_t offset) {
                    return copy_from_array(bytes + offset, width, place, width, height, kind,
                                           order);
                  });
}

}  // namespace

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMalloc3DArray(cudaArray_t* out, const cudaChannelFormatDesc* channels,
                              cudaExtent extent, unsigned flags) {
  return call_context([&]() -> cudaError_t {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    LIB_TRY(describe(channels, extent, flags, &description));
    return driver.cuArray3DCreate_v2(out, &description);
  });
}

cudaError_t cudaMallocArray(cudaArray_t* out, const cudaChannelFormatDesc* channels, size_t width,
                            size_t height, unsigned flags) {
  return cudaMalloc3DArray(out, channels, {width, height, 0}, flags);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* out,
                                     const cudaChannelFormatDesc* channels, cudaExtent extent,
                                     unsigned levels, unsigned flags) {
  return call_context([&]() -> cudaError_t {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    LIB_TRY(describe(channels, extent, flags, &description));
    return driver.cuMipmappedArrayCreate(out, &description, levels);
  });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return call_context([&]() -> cudaError_t {
    return array != nullptr ? driver.cuArrayDestroy(array) : CUresult{CUDA_SUCCESS};
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return call_context([&]() -> cudaError_t {
    return array != nullptr ? driver.cuMipmappedArrayDestroy(array) : CUresult{CUDA_SUCCESS};
  });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* out, cudaMipmappedArray_const_t array,
                                       unsigned level) {
  return call_context([&] {
    return driver.cuMipmappedArrayGetLevel(out, const_cast<CUmipmappedArray>(array), level);
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channels, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  return call_context([&]() -> cudaError_t {
    CUDA_ARRAY3D_DESCRIPTOR found{};
    LIB_TRY(driver.cuArray3DGetDescriptor_v2(&found, array));
    if (channels != nullptr) *channels = runtime_format({found.Format, found.NumChannels});
    if (extent != nullptr) *extent = {found.Width, found.Height, found.Depth};
    if (flags != nullptr) *flags = found.Flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* out, cudaArray_const_t array) {
  return cudaArrayGetInfo(out, nullptr, nullptr, mutable_array(array));
}

cudaError_t cudaArrayGetPlane(cudaArray_t* out, cudaArray_t array, unsigned plane) {
  return call_context([&] { return driver.cuArrayGetPlane(out, array, plane); });
}

cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties* out, cudaArray_t array) {
  return call_context([&] { return driver.cuArrayGetSparseProperties(out, array); });
}

cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties* out,
                                                  cudaMipmappedArray_t array) {
  return call_context([&] { return driver.cuMipmappedArrayGetSparseProperties(out, array); });
}

cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* out, cudaArray_t array,
                                           int device) {
  return call_context([&] { return driver.cuArrayGetMemoryRequirements(out, array, device); });
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements* out,
                                                    cudaMipmappedArray_t array, int device) {
  return call_context(
      [&] { return driver.cuMipmappedArrayGetMemoryRequirements(out, array, device); });
}

cudaError_t cudaMemcpyToArray(cudaArray_t target, size_t x_bytes, size_t y, const void* source,
                              size_t size_bytes, cudaMemcpyKind kind) {
  return call_context(
      [&] { return run_copy_to(target, x_bytes, y, source, size_bytes, kind, kBlocking); });
}

cudaError_t cudaMemcpyToArray_ptds(cudaArray_t target, size_t x_bytes, size_t y, const void* source,
                                   size_t size_bytes, cudaMemcpyKind kind) {
  return call_context([&] {
    return run_copy_to(target, x_bytes, y, source, size_bytes, kind, kBlockingPerThread);
  });
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t target, size_t x_bytes, size_t y, const void* source,
                                   size_t size_bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return call_context(
      [&] { return run_copy_to(target, x_bytes, y, source, size_bytes, kind, on(stream)); });
}

cudaError_t cudaMemcpyFromArray(void* target, cudaArray_const_t source, size_t x_bytes, size_t y,
                                size_t size_bytes, cudaMemcpyKind kind) {
  return call_context(
      [&] { return run_copy_from(target, source, x_bytes, y, size_bytes, kind, kBlocking); });
}

cudaError_t cudaMemcpyFromArray_ptds(void* target, cudaArray_const_t source, size_t x_bytes,
                                     size_t y, size_t size_bytes, cudaMemcpyKind kind) {
  return call_context([&] {
    return run_copy_from(target, source, x_bytes, y, size_bytes, kind, kBlockingPerThread);
  });
}

cudaError_t cudaMemcpyFromArrayAsync(void* target, cudaArray_const_t source, size_t x_bytes,
                                     size_t y, size_t size_bytes, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return call_context(
      [&] { return run_copy_from(target, source, x_bytes, y, size_bytes, kind, on(stream)); });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t target, size_t x_bytes, size_t y, const void* source,
                                size_t pitch, size_t width_bytes, size_t height,
                                cudaMemcpyKind kind) {
  return call_context([&] {
    return copy_to_array({target, x_bytes, y}, source, pitch, width_bytes, height, kind, kBlocking);
  });
}

cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t target, size_t x_bytes, size_t y,
                                     const void* source, size_t pitch, size_t width_bytes,
                                     size_t height, cudaMemcpyKind kind) {
  return call_context([&] {
    return copy_to_array({target, x_bytes, y}, source, pitch, width_bytes, height, kind,
                         kBlockingPerThread);
  });
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t target, size_t x_bytes, size_t y,
                                     const void* source, size_t pitch, size_t width_bytes,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return call_context([&] {
    return copy_to_array({target, x_bytes, y}, source, pitch, width_bytes, height, kind,
                         on(stream));
  });
}

cudaError_t cudaMemcpy2DFromArray(void* target, size_t pitch, cudaArray_const_t source,
                                  size_t x_bytes, size_t y, size_t width_bytes, size_t height,
                                  cudaMemcpyKind kind) {
  return call_context([&] {
    return copy_from_array(target, pitch, {source, x_bytes, y}, width_bytes, height, kind,
                           kBlocking);
  });
}

cudaError_t cudaMemcpy2DFromArray_ptds(void* target, size_t pitch, cudaArray_const_t source,
                                       size_t x_bytes, size_t y, size_t width_bytes, size_t height,
                                       cudaMemcpyKind kind) {
  return call_context([&] {
    return copy_from_array(target, pitch, {source, x_bytes, y}, width_bytes, height, kind,
                           kBlockingPerThread);
  });
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* target, size_t pitch, cudaArray_const_t source,
                                       size_t x_bytes, size_t y, size_t width_bytes, size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
  return call_context([&] {
    return copy_from_array(target, pitch, {source, x_bytes, y}, width_bytes, height, kind,
                           on(stream));
  });
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t target, size_t to_x_bytes, size_t to_y,
                                   cudaArray_const_t source, size_t x_bytes, size_t y,
                                   size_t size_bytes, cudaMemcpyKind kind) {
  return call_context([&] {
    return run_copy_arrays({target, to_x_bytes, to_y}, {source, x_bytes, y}, size_bytes, kind,
                           kBlocking);
  });
}

cudaError_t cudaMemcpyArrayToArray_ptds(cudaArray_t target, size_t to_x_bytes, size_t to_y,
                                        cudaArray_const_t source, size_t x_bytes, size_t y,
                                        size_t size_bytes, cudaMemcpyKind kind) {
  return call_context([&] {
    return run_copy_arrays({target, to_x_bytes, to_y}, {source, x_bytes, y}, size_bytes, kind,
                           kBlockingPerThread);
  });
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t target, size_t to_x_bytes, size_t to_y,
                                     cudaArray_const_t source, size_t x_bytes, size_t y,
                                     size_t width_bytes, size_t height, cudaMemcpyKind kind) {
  return call_context([&]() -> cudaError_t {
    LIB_TRY(check_device_kind(kind, cudaMemcpyDeviceToDevice));
    return copy_arrays({target, to_x_bytes, to_y}, {source, x_bytes, y}, width_bytes, height,
                       kBlocking);
  });
}

cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t target, size_t to_x_bytes, size_t to_y,
                                          cudaArray_const_t source, size_t x_bytes, size_t y,
                                          size_t width_bytes, size_t height, cudaMemcpyKind kind) {
  return call_context([&]() -> cudaError_t {
    LIB_TRY(check_device_kind(kind, cudaMemcpyDeviceToDevice));
    return copy_arrays({target, to_x_bytes, to_y}, {source, x_bytes, y}, width_bytes, height,
                       kBlockingPerThread);
  });
}

}  // extern "C"

}  // namespace km::cudart
