// Copies and fills in the runtime's forms, made into the driver's.
#pragma once

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

/// When an operation runs: the call waits for it (on the legacy default stream, or the thread's),
/// or a stream takes it.
struct Order {
  bool is_blocking, is_per_thread;
  cudaStream_t stream;
};
inline constexpr Order kBlocking{true, false, nullptr}, kBlockingPerThread{true, true, nullptr};
inline Order on(cudaStream_t stream) { return {false, false, stream}; }

/// Kinds of memory on both sides of a copy, in the driver's terms.
struct CopyKinds {
  CUmemorytype source, target;
};
/// cudaErrorInvalidMemcpyDirection.
cudaError_t copy_kinds(cudaMemcpyKind kind, CopyKinds* out);

cudaError_t copy(void* target, const void* source, size_t size_bytes, cudaMemcpyKind kind,
                 Order order);
cudaError_t copy_rows(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                      size_t width_bytes, size_t height, cudaMemcpyKind kind, Order order);
cudaError_t copy_box(const cudaMemcpy3DParms* copy, Order order);
cudaError_t copy_box(const cudaMemcpy3DPeerParms* copy, Order order);

/// A place in an array: bytes in a row, rows.
struct ArrayPlace {
  const CUarray_st* array;
  size_t x_bytes, y;
};
/// Between an array and memory in rows, in both directions.
cudaError_t copy_to_array(ArrayPlace target, const void* source, size_t pitch, size_t width_bytes,
                          size_t height, cudaMemcpyKind kind, Order order);
cudaError_t copy_from_array(void* target, size_t pitch, ArrayPlace source, size_t width_bytes,
                            size_t height, cudaMemcpyKind kind, Order order);
cudaError_t copy_arrays(ArrayPlace target, ArrayPlace source, size_t width_bytes, size_t height,
                        Order order);

/// The driver's form of a copy of up to three dimensions, and back.
cudaError_t driver_copy(const cudaMemcpy3DParms& copy, CUDA_MEMCPY3D* out);
cudaError_t runtime_copy(const CUDA_MEMCPY3D& copy, cudaMemcpy3DParms* out);
/// A copy of one dimension as one of three.
cudaMemcpy3DParms flat_copy(void* target, const void* source, size_t size_bytes,
                            cudaMemcpyKind kind);

/// Part of a variable of the device. cudaErrorInvalidSymbol, cudaErrorInvalidValue: beyond its end.
cudaError_t symbol_part(const void* symbol, size_t offset_bytes, size_t size_bytes, void** out);
/// Checks the kind of a copy whose one side is a variable or an array, and the other one possibly
/// the host's: cudaErrorInvalidMemcpyDirection otherwise.
cudaError_t check_device_kind(cudaMemcpyKind kind, cudaMemcpyKind with_host);

cudaError_t fill_rows(void* target, size_t pitch, int value, size_t width_bytes, size_t height,
                      Order order);
cudaError_t fill(void* target, int value, size_t size_bytes, Order order);

}  // namespace km::cudart
