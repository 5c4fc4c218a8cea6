// Converts copies and fills from the runtime's forms to the driver's.
#pragma once

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

/// The order of an operation: the call blocks (on the legacy or the per-thread default stream), or
/// a stream queues it.
struct Order {
  bool is_blocking, is_per_thread;
  cudaStream_t stream;
};
inline constexpr Order kBlocking{true, false, nullptr}, kBlockingPerThread{true, true, nullptr};
inline Order on(cudaStream_t stream) { return {false, false, stream}; }

/// The memory types of a copy's two sides, in the driver's terms.
struct CopyKinds {
  CUmemorytype source, target;
};
/// cudaErrorInvalidMemcpyDirection if the kind is invalid.
cudaError_t copy_kinds(cudaMemcpyKind kind, CopyKinds* out);

cudaError_t copy(void* target, const void* source, size_t size_bytes, cudaMemcpyKind kind,
                 Order order);
cudaError_t copy_rows(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                      size_t width_bytes, size_t height, cudaMemcpyKind kind, Order order);
cudaError_t copy_box(const cudaMemcpy3DParms* copy, Order order);
cudaError_t copy_box(const cudaMemcpy3DPeerParms* copy, Order order);

/// A position in an array: bytes within a row, and the row.
struct ArrayPlace {
  const CUarray_st* array;
  size_t x_bytes, y;
};
/// Copies between an array and pitched memory, in either direction.
cudaError_t copy_to_array(ArrayPlace target, const void* source, size_t pitch, size_t width_bytes,
                          size_t height, cudaMemcpyKind kind, Order order);
cudaError_t copy_from_array(void* target, size_t pitch, ArrayPlace source, size_t width_bytes,
                            size_t height, cudaMemcpyKind kind, Order order);
cudaError_t copy_arrays(ArrayPlace target, ArrayPlace source, size_t width_bytes, size_t height,
                        Order order);

/// Converts copies of up to three dimensions to the driver's form, and back.
cudaError_t driver_copy(const cudaMemcpy3DParms& copy, CUDA_MEMCPY3D* out);
cudaError_t runtime_copy(const CUDA_MEMCPY3D& copy, cudaMemcpy3DParms* out);
/// A one-dimensional copy in the three-dimensional form.
cudaMemcpy3DParms flat_copy(void* target, const void* source, size_t size_bytes,
                            cudaMemcpyKind kind);

/// The address of a part of a device variable. cudaErrorInvalidSymbol if there is no variable,
/// cudaErrorInvalidValue if the part exceeds it.
cudaError_t symbol_part(const void* symbol, size_t offset_bytes, size_t size_bytes, void** out);
/// Checks the kind of a copy that has a variable or an array on one side and possibly host memory
/// on the other. cudaErrorInvalidMemcpyDirection if the kind does not fit.
cudaError_t check_device_kind(cudaMemcpyKind kind, cudaMemcpyKind with_host);

cudaError_t fill_rows(void* target, size_t pitch, int value, size_t width_bytes, size_t height,
                      Order order);
cudaError_t fill(void* target, int value, size_t size_bytes, Order order);

}  // namespace km::cudart
