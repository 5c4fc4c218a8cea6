/* Contexts: an opened device with its limits, its total memory, its output and its peers.
 *
 * Example:
 *   km_device device;
 *   km_context context;
 *   uint64_t free_bytes, total_bytes;
 *   KM_CHECK(km_device_open("cpu", &device));
 *   KM_CHECK(km_context_create(device, &context));
 *   KM_CHECK(km_device_destroy(device));
 *   KM_CHECK(km_context_memory_info(context, &free_bytes, &total_bytes));
 *   printf("%.1f of %.1f MB are free\n", (double)free_bytes / 1e6, (double)total_bytes / 1e6);
 *   KM_CHECK(km_context_destroy(context));
 */
#ifndef KERNELMILL_CONTEXT_H
#define KERNELMILL_CONTEXT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of a context; CUDA's CUlimit has the same numbers, less one. */
typedef int32_t km_context_limit;
enum {
  KM_CONTEXT_LIMIT_INVALID = 0,
  KM_CONTEXT_LIMIT_STACK_BYTES = 1,  /* stack size of each thread */
  KM_CONTEXT_LIMIT_PRINTF_BYTES = 2, /* buffer of device printf, emptied by each synchronisation */
  KM_CONTEXT_LIMIT_HEAP_BYTES = 3,   /* heap for malloc in kernels */
  KM_CONTEXT_LIMIT_SYNC_DEPTH = 4,
  KM_CONTEXT_LIMIT_PENDING_LAUNCHES = 5,
  KM_CONTEXT_LIMIT_L2_FETCH_BYTES = 6,
  KM_CONTEXT_LIMIT_PERSISTING_L2_BYTES = 7
};

typedef uint32_t km_context_flags;
enum {
  KM_CONTEXT_DEFAULT = 0,
  KM_CONTEXT_ORDERED = 1, /* conflicting uses of its slices on different streams are ordered */
  KM_CONTEXT_CHECKED = 2  /* each access of its kernels is checked, if the device can do that */
};

typedef void (*km_output_callback)(void* user_data, const char* text, uint64_t size_bytes);

/** Opens a context on a device; a device can have several. The handle is the caller's, to be given
 * to km_context_destroy. In C and C++ programs that are compiled without NDEBUG this name is a
 * macro for km_context_create_with_flags with KM_CONTEXT_CHECKED; the function itself sets no
 * flags. CUDA: the primary context of the device.
 * Status: KM_ERROR_NOT_SUPPORTED when the backend runs nothing; KM_ERROR_OUT_OF_DEVICE_MEMORY when
 *   the device has no room for a context.
 */
KM_API km_status km_context_create(km_device device, km_context* out_context) KM_NOEXCEPT;

/** Opens a context with flags, which cannot be changed later. KM_CONTEXT_ORDERED makes the library
 * order the uses of this context's slices: each use waits for the conflicting earlier uses on other
 * streams of this or another context. Two uses conflict if they share a byte and one of them
 * writes. Uses are arguments of launches (taken as a write of the whole slice or view, unless
 * km_launch_operand or km_launch_arg_slice_access says less), copies, fills, operands of BLAS, and
 * the uses by nodes of a launched graph; captured uses become dependencies between nodes. Numbers
 * that streams write and wait for, callbacks, and raw addresses given to a kernel are not ordered.
 * The stream waits, not the call. If all uses are on one stream, the cost is one comparison for
 * each. docs/guide/ordering.md says which order is kept and which is left to the caller.
 * KM_CONTEXT_CHECKED tests each access of a kernel against the context's allocations, so that the
 * first wrong one stops the kernel with KM_ERROR_ILLEGAL_ADDRESS; the environment variable
 * KM_CPU_MEMORY overrides it. CPU devices can do that (docs/guide/checked-memory.md has the cost),
 * others ignore the flag: km_context_flags_get returns the flags in effect. The handle is the
 * caller's, to be given to km_context_destroy. CUDA: the primary context of the device, with
 * cuEventRecord and cuStreamWaitEvent between the uses; compute-sanitizer tests accesses there.
 * Status: KM_ERROR_INVALID_ARGUMENT when `flags` has unknown bits; KM_ERROR_NOT_SUPPORTED when the
 *   backend runs nothing or cannot order uses; KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has no
 *   room for a context.
 */
KM_API km_status km_context_create_with_flags(km_device device, km_context_flags flags,
                                              km_context* out_context) KM_NOEXCEPT;

/** The flags in effect: those that the context was opened with, with KM_CONTEXT_CHECKED only if
 * accesses of its kernels are really tested. CUDA: cuCtxGetFlags. */
KM_API km_status km_context_flags_get(km_context context, km_context_flags* out_flags) KM_NOEXCEPT;

/** Drops the caller's handle. Streams, slices, modules and all other children keep the context
 * alive; queued work still runs. Null is fine. */
KM_API km_status km_context_destroy(km_context context) KM_NOEXCEPT;

/** The device of a context, as a new handle that is the caller's to destroy. */
KM_API km_status km_context_device(km_context context, km_device* out_device) KM_NOEXCEPT;

/** The context's default stream, the same for every call until a reset, as a new handle that is the
 * caller's to destroy. It is a stream like any other and does not wait for others.
 * Status: the sticky error.
 */
KM_API km_status km_context_default_stream(km_context context, km_stream* out_stream) KM_NOEXCEPT;

/** Waits until the work of all streams of the context is done, and writes the output of kernels.
 * CUDA: cuCtxSynchronize.
 * Blocking: until all queued work is done.
 * Status: KM_ERROR_NOT_PERMITTED when called inside a callback of this library; the sticky error.
 */
KM_API km_status km_context_synchronize(km_context context) KM_RUNS_CALLBACKS;

/** The device's memory, in bytes: the amount that can be allocated now, and the total. CUDA:
 * cuMemGetInfo. */
KM_API km_status km_context_memory_info(km_context context, uint64_t* out_free_bytes,
                                        uint64_t* out_total_bytes) KM_NOEXCEPT;

/** Stops running kernels, drops queued work (host callbacks get its status) and clears the sticky
 * error. Every earlier handle of an object of the context is lost: calls with it return
 * KM_ERROR_CONTEXT_LOST, and its host-visible memory stays mapped until the caller destroys it. The
 * context itself stays usable. CUDA: cuDevicePrimaryCtxReset.
 * Blocking: until running kernels have stopped.
 * Status: KM_ERROR_NOT_PERMITTED when called inside a callback of this library;
 *   KM_ERROR_PROCESS_LOST when the device cannot recover within this process.
 */
KM_API km_status km_context_reset(km_context context) KM_RUNS_CALLBACKS;

/** A limit of the context. CUDA: cuCtxGetLimit.
 * Status: KM_ERROR_INVALID_ARGUMENT when `limit` is not a km_context_limit; KM_ERROR_NOT_SUPPORTED
 *   when the device has no such limit.
 */
KM_API km_status km_context_limit_get(km_context context, km_context_limit limit,
                                      uint64_t* out_value) KM_NOEXCEPT;

/** Sets a limit of the context, for work that is queued afterwards. The device may set more than is
 * asked for; km_context_limit_get returns the value in effect. It survives a reset of the context.
 * CUDA: cuCtxSetLimit.
 * Status: KM_ERROR_INVALID_ARGUMENT when `limit` is not a km_context_limit; KM_ERROR_NOT_SUPPORTED
 *   when the device has no such limit, or cannot have that much.
 */
KM_API km_status km_context_limit_set(km_context context, km_context_limit limit,
                                      uint64_t value) KM_NOEXCEPT;

/** Passes the output of kernels and the lines of failed assertions to `callback`, on the thread
 * that synchronises, one call at a time; null restores standard output and standard error.
 * `user_data` must stay valid until another callback is set or the context is gone.
 * Status: KM_ERROR_NOT_SUPPORTED when the backend has no such thing.
 */
KM_API km_status km_context_set_output(km_context context, km_output_callback callback,
                                       void* user_data) KM_NOEXCEPT;

/** Lets kernels of `context` use memory of `peer`: slices of `peer` are taken as arguments of
 * launches. It works in one direction and stays until it is disabled; enabling it twice is fine.
 * Work of the two contexts is ordered by events. CUDA: cuCtxEnablePeerAccess.
 * Status: KM_ERROR_INVALID_ARGUMENT when both are the same; KM_ERROR_NOT_SUPPORTED when the devices
 *   cannot reach each other's memory; never KM_ERROR_CONTEXT_MISMATCH.
 */
KM_API km_status km_context_enable_peer_access(km_context context, km_context peer) KM_NOEXCEPT;

/** Undoes km_context_enable_peer_access for later launches. CUDA: cuCtxDisablePeerAccess.
 * Status: KM_ERROR_INVALID_ARGUMENT when both are the same; KM_ERROR_NOT_SUPPORTED when the devices
 *   cannot reach each other's memory; never KM_ERROR_CONTEXT_MISMATCH.
 */
KM_API km_status km_context_disable_peer_access(km_context context, km_context peer) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif

/* The flag for checks in debug builds: KM_CONTEXT_CHECKED if C or C++ is compiled without NDEBUG,
 * so with assert() on, otherwise 0. km_context_create sets it then; calls of
 * km_context_create_with_flags may add it: KM_CONTEXT_ORDERED | KM_CONTEXT_BUILD. Bindings, which
 * see handles as numbers, follow the debug builds of their own languages. */
#if defined(NDEBUG)
#define KM_CONTEXT_BUILD KM_CONTEXT_DEFAULT
#else
#define KM_CONTEXT_BUILD KM_CONTEXT_CHECKED
#if !defined(KM_BUILDING_LIBRARY) && !defined(KM_HANDLES_AS_U64) && !defined(SWIG)
#define km_context_create(device, out_context) \
  km_context_create_with_flags(device, KM_CONTEXT_BUILD, out_context)
#endif
#endif

#endif
