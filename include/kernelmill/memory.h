/* Memory: slices of device memory, views of them, host memory, and mapped files.
 *
 * Example:
 *   km_slice numbers, second_half;
 *   km_slice_info info;
 *   info.struct_size = sizeof info;
 *   KM_CHECK(km_slice_create(context, 100, sizeof(float), KM_SLICE_ZEROED, &numbers));
 *   KM_CHECK(km_slice_view(numbers, 50, 50, &second_half));
 *   KM_CHECK(km_slice_info_get(second_half, &info));
 *   printf("%u bytes at %#llx\n", (unsigned)info.size_bytes, (unsigned long long)info.address);
 *   KM_CHECK(km_slice_destroy(second_half));
 *   KM_CHECK(km_slice_destroy(numbers));
 */
#ifndef KERNELMILL_MEMORY_H
#define KERNELMILL_MEMORY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t km_host_memory_flags;
enum { KM_HOST_MEMORY_DEFAULT = 0 };

typedef uint32_t km_slice_flags;
enum {
  KM_SLICE_DEFAULT = 0,
  KM_SLICE_ZEROED = 1,
  KM_SLICE_MANAGED = 2 /* for km_slice_create: host and device share it */
};

typedef struct km_slice_info {
  uint32_t struct_size;
  uint32_t is_view;
  uint64_t address; /* device address of the first element */
  uint64_t element_count;
  uint64_t element_size_bytes;
  uint64_t size_bytes;
} km_slice_info;
KM_CHECK_SIZE(km_slice_info, 40);

typedef uint32_t km_map_flags;
enum { KM_MAP_READ_ONLY = 0, KM_MAP_PRIVATE = 1 /* writable, the file never changes */ };

/** The allocation of this context that holds a device address, as a new slice over all of it (the
 * caller's to destroy), and the offset of the address in it. Lock-free. CUDA: cuMemGetAddressRange.
 * Status: KM_ERROR_NOT_FOUND when no live allocation of the context holds `address`.
 */
KM_API km_status km_context_find_slice(km_context context, uint64_t address, km_slice* out_slice,
                                       uint64_t* out_offset_bytes) KM_NOEXCEPT;

/** Page-locked host memory, from and to which copies are asynchronous. The handle is the caller's,
 * to be given to km_host_memory_destroy; the memory stays until the last use known to the library
 * is over. CUDA: cuMemHostAlloc.
 * Status: KM_ERROR_INVALID_ARGUMENT when `size_bytes` is 0, or `flags` has unknown bits;
 *   KM_ERROR_OUT_OF_DEVICE_MEMORY when that much cannot be page-locked; the sticky error.
 */
KM_API km_status km_host_memory_create(km_context context, uint64_t size_bytes,
                                       km_host_memory_flags flags,
                                       km_host_memory* out_memory) KM_NOEXCEPT;

/** Makes the caller's own memory page-locked. It must stay mapped until the handle is destroyed and
 * work that uses it is done. CUDA: cuMemHostRegister.
 * Status: KM_ERROR_INVALID_ARGUMENT when `pointer` is null, `size_bytes` is 0, the range is not
 *   mapped, overlaps one that is registered or wraps around the address space, or `flags` has
 *   unknown bits; KM_ERROR_NOT_SUPPORTED when the backend has no such thing; the sticky error.
 */
KM_API km_status km_host_memory_register(km_context context, void* pointer, uint64_t size_bytes,
                                         km_host_memory_flags flags,
                                         km_host_memory* out_memory) KM_NOEXCEPT;

/** Drops the caller's handle. Memory that the library allocated is freed after its last use;
 * registered memory is unregistered then. Null is fine. */
KM_API km_status km_host_memory_destroy(km_host_memory memory) KM_NOEXCEPT;

/** The first byte of the memory, for the host. Valid until the handle is destroyed. */
KM_API km_status km_host_memory_pointer(km_host_memory memory, void** out_pointer) KM_NOEXCEPT;

/** The size of the memory. */
KM_API km_status km_host_memory_size_bytes(km_host_memory memory,
                                           uint64_t* out_size_bytes) KM_NOEXCEPT;

/** Allocates device memory for `element_count` elements, usable at once on every stream.
 * KM_SLICE_ZEROED fills it with zeros; otherwise its contents are undefined. With KM_SLICE_MANAGED,
 * km_slice_host_pointer returns its address for the host on every device that has managed memory;
 * on NVIDIA GPUs pages migrate to the processor that uses them, the host may touch them while
 * kernels run only if the attribute KM_DEVICE_ATTRIBUTE_CUDA + 89 (concurrent managed access) is 1,
 * and a reset frees them. 0 elements give an empty slice with address 0. The handle is the
 * caller's, to be given to km_slice_destroy. CUDA: cuMemAlloc, cuMemAllocManaged.
 * Status: KM_ERROR_INVALID_ARGUMENT when `element_size_bytes` is 0, the size does not fit 64 bits,
 *   or `flags` has unknown bits; KM_ERROR_OUT_OF_DEVICE_MEMORY when the device does not have that
 *   much memory left; KM_ERROR_NOT_SUPPORTED when the device has no managed memory; the sticky
 *   error.
 */
KM_API km_status km_slice_create(km_context context, uint64_t element_count,
                                 uint64_t element_size_bytes, km_slice_flags flags,
                                 km_slice* out_slice) KM_NOEXCEPT;

/** km_slice_create in stream order: the memory is usable by work that is queued in the stream
 * afterwards. CUDA: cuMemAllocAsync.
 * Status: KM_ERROR_INVALID_ARGUMENT when `element_size_bytes` is 0, the size does not fit 64 bits,
 *   or `flags` has unknown bits; KM_ERROR_OUT_OF_DEVICE_MEMORY when the device does not have that
 *   much memory left; the sticky error.
 */
KM_API km_status km_slice_create_on_stream(km_stream stream, uint64_t element_count,
                                           uint64_t element_size_bytes, km_slice_flags flags,
                                           km_slice* out_slice) KM_NOEXCEPT;

/** Makes a slice of the caller's own memory, without a copy, if the device can access host memory.
 * The memory must stay valid until `release` is called (null: no call), which happens once, when
 * neither handles nor work use it any more, possibly on a thread of the library; if this call
 * fails, `release` is not called. CUDA: cuMemHostRegister with CU_MEMHOSTREGISTER_DEVICEMAP.
 * Status: KM_ERROR_INVALID_ARGUMENT when `pointer` is null, `element_size_bytes` or the size is 0,
 *   or the range overlaps device memory that is in use or wraps around the address space;
 *   KM_ERROR_NOT_SUPPORTED when the device cannot access host memory; the sticky error.
 */
KM_API km_status km_slice_from_host(km_context context, void* pointer, uint64_t element_count,
                                    uint64_t element_size_bytes, km_release_callback release,
                                    void* user_data, km_slice* out_slice) KM_NOEXCEPT;

/** A part of a slice, as a slice of its own that shares the memory and keeps it alive. The handle
 * is the caller's, to be given to km_slice_destroy.
 * Status: KM_ERROR_OUT_OF_BOUNDS when the elements do not lie inside the slice.
 */
KM_API km_status km_slice_view(km_slice slice, uint64_t first_element, uint64_t element_count,
                               km_slice* out_view) KM_NOEXCEPT;

/** Drops the caller's handle. The memory is freed when no view is left and the last use that the
 * library knows of is over; the caller has to wait for uses by raw address in kernel arguments.
 * Null is fine. */
KM_API km_status km_slice_destroy(km_slice slice) KM_NOEXCEPT;

/** Like km_slice_destroy, but the memory is freed only after the work queued in the stream so far,
 * which covers uses that the library does not know of. Null for `slice` is fine. CUDA:
 * cuMemFreeAsync.
 * Status: KM_ERROR_CONTEXT_LOST when the context of `slice` or `stream` was reset after its
 *   creation (km_slice_destroy still works).
 */
KM_API km_status km_slice_destroy_on_stream(km_slice slice, km_stream stream) KM_NOEXCEPT;

/** Address, size and element size of a slice. Set `out_info->struct_size` first. */
KM_API km_status km_slice_info_get(km_slice slice, km_slice_info* out_info) KM_NOEXCEPT;

/** Declares the element type of a slice and of its later views. A launch that passes the slice for
 * a parameter of a type that it does not fit (km_element_type has the rules) fails with
 * KM_ERROR_INVALID_LAUNCH. `lanes`: 2 to 4 for a vector such as float4, otherwise 1. `name`: the
 * C++ name of a KM_ELEMENT_TYPE_NAMED ("ns::Point"; null: any name), otherwise null.
 * KM_ELEMENT_TYPE_UNKNOWN with 0 lanes, the initial type, turns the check off. Bindings make this
 * call for slices of numbers.
 * Threads: any, but not while another thread uses the slice in a launch.
 * Status: KM_ERROR_INVALID_ARGUMENT when there is no such type, it has no vectors with that number
 *   of lanes, or `name` is given with a type that is not KM_ELEMENT_TYPE_NAMED or has more than
 *   4095 bytes.
 */
KM_API km_status km_slice_set_element_type(km_slice slice, km_element_type type, uint32_t lanes,
                                           const char* name) KM_NOEXCEPT;

/** The device address of the first element; 0 for an empty slice. */
KM_API km_status km_slice_address(km_slice slice, uint64_t* out_address) KM_NOEXCEPT;

/** The host's pointer to the memory, if device memory is host memory; null for an empty slice.
 * Valid until the slice and its views are destroyed. Reading memory that a stream still writes is a
 * race: synchronise first.
 * Status: KM_ERROR_NOT_SUPPORTED when the host cannot access the device's memory.
 */
KM_API km_status km_slice_host_pointer(km_slice slice, void** out_pointer) KM_NOEXCEPT;

/** Like km_slice_create, with an address that is a multiple of `alignment_bytes`.
 * Status: KM_ERROR_INVALID_ARGUMENT when `alignment_bytes` is not a power of two,
 *   `element_size_bytes` is 0, the size does not fit 64 bits, or `flags` has unknown bits;
 *   KM_ERROR_OUT_OF_DEVICE_MEMORY when the device does not have that much memory left; the sticky
 *   error.
 */
KM_API km_status km_slice_create_aligned(km_context context, uint64_t element_count,
                                         uint64_t element_size_bytes, uint64_t alignment_bytes,
                                         km_slice_flags flags, km_slice* out_slice) KM_NOEXCEPT;

/** Allocates device memory for `row_count` rows of `row_bytes`, as a slice of bytes; the rows begin
 * `*out_pitch_bytes` apart, at multiples of 256 bytes. The handle is the caller's, to be given to
 * km_slice_destroy. CUDA: cuMemAllocPitch.
 * Status: KM_ERROR_INVALID_ARGUMENT when the size does not fit 64 bits, or `flags` has unknown
 *   bits; KM_ERROR_OUT_OF_DEVICE_MEMORY when the device does not have that much memory left; the
 *   sticky error.
 */
KM_API km_status km_slice_create_pitched(km_context context, uint64_t row_bytes, uint64_t row_count,
                                         km_slice_flags flags, km_slice* out_slice,
                                         uint64_t* out_pitch_bytes) KM_NOEXCEPT;

/** Maps a part of a file as a slice: pages are read when they are used, so the file may be larger
 * than memory. KM_MAP_READ_ONLY: kernels that write to it fail with KM_ERROR_ILLEGAL_ADDRESS, and
 * calls that would write to it are refused. KM_MAP_PRIVATE: writable, but the file never changes.
 * `element_count` UINT64_MAX: all elements from `offset_bytes` on. If the file becomes shorter
 * while it is mapped, kernels and copies under way fail with KM_ERROR_ILLEGAL_ADDRESS and copies
 * that the call waits for with KM_ERROR_IO; the host program's own access raises SIGBUS. The handle
 * is the caller's, to be given to km_slice_destroy. CUDA: cuMemHostRegister with
 * CU_MEMHOSTREGISTER_DEVICEMAP and CU_MEMHOSTREGISTER_READ_ONLY.
 * Status: KM_ERROR_INVALID_ARGUMENT when `path` is null, `element_size_bytes` or the part is 0, the
 *   size does not fit 64 bits, or `flags` has unknown bits; KM_ERROR_NOT_FOUND when there is no
 *   such file; KM_ERROR_IO when it cannot be opened or mapped; KM_ERROR_OUT_OF_BOUNDS when the part
 *   reaches beyond the end of the file; KM_ERROR_NOT_SUPPORTED when the device cannot access host
 *   memory; the sticky error.
 */
KM_API km_status km_slice_map_file(km_context context, const char* path, uint64_t offset_bytes,
                                   uint64_t element_count, uint64_t element_size_bytes,
                                   km_map_flags flags, km_slice* out_slice) KM_NOEXCEPT;

/** Maps a part of a file as host memory, for the host to read and as a source of copies;
 * `size_bytes` UINT64_MAX maps the file to its end. The memory is not page-locked: copies from it
 * behave as from any other memory, and fail with KM_ERROR_IO when the file has become shorter. The
 * host's own access raises SIGBUS then. The handle is the caller's, to be given to
 * km_host_memory_destroy. CUDA: cuMemHostRegister.
 * Status: KM_ERROR_INVALID_ARGUMENT when `path` is null, the part is empty, or `flags` has unknown
 *   bits; KM_ERROR_NOT_FOUND when there is no such file; KM_ERROR_IO when it cannot be opened or
 *   mapped; KM_ERROR_OUT_OF_BOUNDS when the part reaches beyond the end of the file;
 *   KM_ERROR_NOT_SUPPORTED when the device cannot access host memory; the sticky error.
 */
KM_API km_status km_host_memory_map_file(km_context context, const char* path,
                                         uint64_t offset_bytes, uint64_t size_bytes,
                                         km_map_flags flags,
                                         km_host_memory* out_memory) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
