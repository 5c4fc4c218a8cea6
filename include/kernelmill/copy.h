/* Copies and fills, which are queued in a stream: of bytes, of rows and layers, and between
 * contexts; for slices and for raw device addresses.
 *
 * Example:
 *   float ones[4] = {1, 1, 1, 1}, back[4];
 *   KM_CHECK(km_slice_fill_u32(stream, x, 0, 0, 8));
 *   KM_CHECK(km_slice_upload(stream, x, 0, ones, sizeof ones));
 *   KM_CHECK(km_slice_copy(stream, x, sizeof ones, x, 0, sizeof ones));
 *   KM_CHECK(km_slice_download(stream, x, sizeof ones, back, sizeof back));
 *   KM_CHECK(km_stream_synchronize(stream));
 *   printf("%g\n", back[3]);
 */
#ifndef KERNELMILL_COPY_H
#define KERNELMILL_COPY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows and layers of a copy: input of km_slice_copy_3d and related calls. A picture has depth 1.
 * Its layout never changes. */
typedef struct km_copy_3d {
  uint64_t width_bytes, height, depth; /* size of a row, rows per layer, number of layers */
  uint64_t destination_offset_bytes;
  uint64_t destination_pitch_bytes; /* distance of rows; 0: width_bytes */
  uint64_t destination_layer_rows;  /* rows from layer to layer; 0: height */
  uint64_t source_offset_bytes, source_pitch_bytes, source_layer_rows;
} km_copy_3d;
KM_CHECK_SIZE(km_copy_3d, 72);

/** Copies from the host into a slice, in stream order. Page-locked memory (km_host_memory_*) must
 * stay unchanged until the copy is done; any other has been read when the call returns. CUDA:
 * cuMemcpyHtoDAsync.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `source` is null and `size_bytes` is not 0;
 *   KM_ERROR_NOT_PERMITTED when called inside a callback of this library with host memory that is
 *   not page-locked; the sticky error.
 */
KM_API km_status km_slice_upload(km_stream stream, km_slice destination, uint64_t offset_bytes,
                                 const void* source, uint64_t size_bytes) KM_NOEXCEPT;

/** Copies from a slice to the host, in stream order. Page-locked memory is written later, when the
 * stream reaches the copy; any other has been written when the call returns. CUDA:
 * cuMemcpyDtoHAsync.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `destination` is null and `size_bytes` is not 0;
 *   KM_ERROR_NOT_PERMITTED when called inside a callback of this library with host memory that is
 *   not page-locked; the sticky error.
 */
KM_API km_status km_slice_download(km_stream stream, km_slice source, uint64_t offset_bytes,
                                   void* destination, uint64_t size_bytes) KM_NOEXCEPT;

/** Copies between slices of one context, in stream order. CUDA: cuMemcpyDtoDAsync.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside both slices;
 *   KM_ERROR_INVALID_ARGUMENT when source and destination overlap without being the same; the
 *   sticky error.
 */
KM_API km_status km_slice_copy(km_stream stream, km_slice destination,
                               uint64_t destination_offset_bytes, km_slice source,
                               uint64_t source_offset_bytes, uint64_t size_bytes) KM_NOEXCEPT;

/** Writes a byte `count` times from `offset_bytes` on, in stream order. CUDA: cuMemsetD8Async.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice; the sticky error.
 */
KM_API km_status km_slice_fill_u8(km_stream stream, km_slice slice, uint64_t offset_bytes,
                                  uint8_t value, uint64_t count) KM_NOEXCEPT;

/** Writes a 16-bit value `count` times from `offset_bytes` on, in stream order. CUDA:
 * cuMemsetD16Async.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when the first address is not a multiple of 2; the sticky error.
 */
KM_API km_status km_slice_fill_u16(km_stream stream, km_slice slice, uint64_t offset_bytes,
                                   uint16_t value, uint64_t count) KM_NOEXCEPT;

/** Writes a 32-bit value `count` times from `offset_bytes` on, in stream order. CUDA:
 * cuMemsetD32Async.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when the first address is not a multiple of 4; the sticky error.
 */
KM_API km_status km_slice_fill_u32(km_stream stream, km_slice slice, uint64_t offset_bytes,
                                   uint32_t value, uint64_t count) KM_NOEXCEPT;

/** Like km_slice_upload, to a device address.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when `source` is null and `size_bytes` is not 0;
 *   KM_ERROR_NOT_PERMITTED when called inside a callback of this library with host memory that is
 *   not page-locked; the sticky error.
 */
KM_API km_status km_memory_upload(km_stream stream, uint64_t destination_address,
                                  const void* source, uint64_t size_bytes) KM_NOEXCEPT;

/** Like km_slice_download, from a device address.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when `destination` is null and `size_bytes` is not 0;
 *   KM_ERROR_NOT_PERMITTED when called inside a callback of this library with host memory that is
 *   not page-locked; the sticky error.
 */
KM_API km_status km_memory_download(km_stream stream, uint64_t source_address, void* destination,
                                    uint64_t size_bytes) KM_NOEXCEPT;

/** Like km_slice_copy, between device addresses.
 * Status: KM_ERROR_OUT_OF_BOUNDS when source or destination do not lie inside one allocation of the
 *   context each; KM_ERROR_INVALID_ARGUMENT when source and destination overlap without being the
 *   same; the sticky error.
 */
KM_API km_status km_memory_copy(km_stream stream, uint64_t destination_address,
                                uint64_t source_address, uint64_t size_bytes) KM_NOEXCEPT;

/** Writes a byte `count` times from a device address on, in stream order. CUDA: cuMemsetD8Async.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside one allocation of the context;
 *   the sticky error.
 */
KM_API km_status km_memory_fill_u8(km_stream stream, uint64_t address, uint8_t value,
                                   uint64_t count) KM_NOEXCEPT;

/** Writes a 16-bit value `count` times from a device address on, in stream order. CUDA:
 * cuMemsetD16Async.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when the first address is not a multiple of 2; the sticky error.
 */
KM_API km_status km_memory_fill_u16(km_stream stream, uint64_t address, uint16_t value,
                                    uint64_t count) KM_NOEXCEPT;

/** Writes a 32-bit value `count` times from a device address on, in stream order. CUDA:
 * cuMemsetD32Async.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when the first address is not a multiple of 4; the sticky error.
 */
KM_API km_status km_memory_fill_u32(km_stream stream, uint64_t address, uint32_t value,
                                    uint64_t count) KM_NOEXCEPT;

/** Copies rows from the host into a slice, in stream order: `copy->height` rows of
 * `copy->width_bytes` in each of `copy->depth` layers, at the offsets and distances that `copy`
 * gives for the slice and for the memory at `source`. Otherwise like km_slice_upload. CUDA:
 * cuMemcpy3DAsync, cuMemcpy2DAsync.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Status: KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `copy` or `source` is null, a pitch is less than `width_bytes`
 *   or a distance of layers less than `height`; KM_ERROR_NOT_PERMITTED when called inside a
 *   callback of this library with host memory that is not page-locked; KM_ERROR_NOT_SUPPORTED when
 *   the backend has no such copies; the sticky error.
 */
KM_API km_status km_slice_upload_3d(km_stream stream, km_slice destination, const void* source,
                                    const km_copy_3d* copy) KM_NOEXCEPT;

/** Copies rows from a slice to the host, in stream order. Otherwise like km_slice_download and
 * km_slice_upload_3d. CUDA: cuMemcpy3DAsync, cuMemcpy2DAsync.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Status: KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `copy` or `destination` is null, a pitch is less than
 *   `width_bytes` or a distance of layers less than `height`; KM_ERROR_NOT_PERMITTED when called
 *   inside a callback of this library with host memory that is not page-locked;
 *   KM_ERROR_NOT_SUPPORTED when the backend has no such copies; the sticky error.
 */
KM_API km_status km_slice_download_3d(km_stream stream, km_slice source, void* destination,
                                      const km_copy_3d* copy) KM_NOEXCEPT;

/** Copies rows between slices of one context, or within one, in stream order. CUDA:
 * cuMemcpy3DAsync, cuMemcpy2DAsync.
 * Status: KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside its slice;
 *   KM_ERROR_INVALID_ARGUMENT when `copy` is null, a pitch is less than `width_bytes` or a distance
 *   of layers less than `height`, or a row of the source overlaps one of the destination;
 *   KM_ERROR_NOT_SUPPORTED when the backend has no such copies; the sticky error.
 */
KM_API km_status km_slice_copy_3d(km_stream stream, km_slice destination, km_slice source,
                                  const km_copy_3d* copy) KM_NOEXCEPT;

/** Writes a value of 1, 2 or 4 bytes `width_count` times to each of `height` rows that begin
 * `pitch_bytes` apart (0: without a gap), from `offset_bytes` on, in stream order. CUDA:
 * cuMemsetD2D8Async, cuMemsetD2D16Async, cuMemsetD2D32Async.
 * Status: KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `value_size_bytes` is not 1, 2 or 4, the first address is not a
 *   multiple of it, or the pitch is less than a row or not a multiple of it; KM_ERROR_NOT_SUPPORTED
 *   when the backend has no such fills; the sticky error.
 */
KM_API km_status km_slice_fill_2d(km_stream stream, km_slice slice, uint64_t offset_bytes,
                                  uint64_t pitch_bytes, uint32_t value, uint32_t value_size_bytes,
                                  uint64_t width_count, uint64_t height) KM_NOEXCEPT;

/** Like km_slice_upload_3d, to a device address; offsets count from there.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the rows do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when `copy` or `source` is null, a pitch is less than `width_bytes`
 *   or a distance of layers less than `height`; KM_ERROR_NOT_PERMITTED when called inside a
 *   callback of this library with host memory that is not page-locked; KM_ERROR_NOT_SUPPORTED when
 *   the backend has no such copies; the sticky error.
 */
KM_API km_status km_memory_upload_3d(km_stream stream, uint64_t destination_address,
                                     const void* source, const km_copy_3d* copy) KM_NOEXCEPT;

/** Like km_slice_download_3d, from a device address.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the rows do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when `copy` or `destination` is null, a pitch is less than
 *   `width_bytes` or a distance of layers less than `height`; KM_ERROR_NOT_PERMITTED when called
 *   inside a callback of this library with host memory that is not page-locked;
 *   KM_ERROR_NOT_SUPPORTED when the backend has no such copies; the sticky error.
 */
KM_API km_status km_memory_download_3d(km_stream stream, uint64_t source_address, void* destination,
                                       const km_copy_3d* copy) KM_NOEXCEPT;

/** Like km_slice_copy_3d, between device addresses.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the rows do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when `copy` is null, a pitch is less than `width_bytes` or a distance
 *   of layers less than `height`, or a row of the source overlaps one of the destination;
 *   KM_ERROR_NOT_SUPPORTED when the backend has no such copies; the sticky error.
 */
KM_API km_status km_memory_copy_3d(km_stream stream, uint64_t destination_address,
                                   uint64_t source_address, const km_copy_3d* copy) KM_NOEXCEPT;

/** Like km_slice_fill_2d, from a device address on.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the rows do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when `value_size_bytes` is not 1, 2 or 4, the first address is not a
 *   multiple of it, or the pitch is less than a row or not a multiple of it; KM_ERROR_NOT_SUPPORTED
 *   when the backend has no such fills; the sticky error.
 */
KM_API km_status km_memory_fill_2d(km_stream stream, uint64_t address, uint64_t pitch_bytes,
                                   uint32_t value, uint32_t value_size_bytes, uint64_t width_count,
                                   uint64_t height) KM_NOEXCEPT;

/** Copies between slices that may belong to different contexts and devices of one backend, in the
 * order of `stream`, with or without peer access. Events order it after work on other streams.
 * CUDA: cuMemcpyPeerAsync.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside both slices;
 *   KM_ERROR_INVALID_ARGUMENT when source and destination overlap without being the same;
 *   KM_ERROR_NOT_SUPPORTED when the contexts are of different backends; the sticky error of the
 *   context of `stream` when a kernel failed; never KM_ERROR_CONTEXT_MISMATCH.
 */
KM_API km_status km_slice_copy_peer(km_stream stream, km_slice destination,
                                    uint64_t destination_offset_bytes, km_slice source,
                                    uint64_t source_offset_bytes, uint64_t size_bytes) KM_NOEXCEPT;

/** km_slice_copy_peer between device addresses of two contexts, which may be the same.
 * Status: KM_ERROR_OUT_OF_BOUNDS when source or destination do not lie inside one allocation of
 *   their context each; KM_ERROR_INVALID_ARGUMENT when source and destination overlap without being
 *   the same; KM_ERROR_NOT_SUPPORTED when the contexts are of different backends; the sticky error
 *   of the context of `stream` when a kernel failed; never KM_ERROR_CONTEXT_MISMATCH.
 */
KM_API km_status km_memory_copy_peer(km_stream stream, km_context destination_context,
                                     uint64_t destination_address, km_context source_context,
                                     uint64_t source_address, uint64_t size_bytes) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
