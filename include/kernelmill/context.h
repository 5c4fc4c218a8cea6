/* Contexts: a device opened, with its limits, its memory in all, its output and its peers.
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
  KM_CONTEXT_LIMIT_STACK_BYTES = 1,  /* of a thread */
  KM_CONTEXT_LIMIT_PRINTF_BYTES = 2, /* of device printf, from one wait to the next */
  KM_CONTEXT_LIMIT_HEAP_BYTES = 3,   /* of malloc in kernels */
  KM_CONTEXT_LIMIT_SYNC_DEPTH = 4,
  KM_CONTEXT_LIMIT_PENDING_LAUNCHES = 5,
  KM_CONTEXT_LIMIT_L2_FETCH_BYTES = 6,
  KM_CONTEXT_LIMIT_PERSISTING_L2_BYTES = 7
};

typedef uint32_t km_context_flags;
enum {
  KM_CONTEXT_DEFAULT = 0,
  KM_CONTEXT_ORDERED = 1, /* uses of its slices on different streams are ordered */
  KM_CONTEXT_CHECKED = 2  /* each access of its kernels is tested, where the device can do that */
};

typedef void (*km_output_callback)(void* user_data, const char* text, uint64_t size_bytes);

/** Opens a context on a device; a device can have several. The handle is the caller's, to be given
 * to km_context_destroy. In C and C++ programs that are compiled without NDEBUG this name is a
 * macro for km_context_create_with_flags with KM_CONTEXT_CHECKED; the function has no flags. CUDA:
 * the primary context of the device.
 * Status: KM_ERROR_NOT_SUPPORTED when the backend runs nothing; KM_ERROR_OUT_OF_DEVICE_MEMORY when
 *   the device has no room for a context.
 */
KM_API km_status km_context_create(km_device device, km_context* out_context) KM_NOEXCEPT;

/** Opens a context with flags, which stay as they are. KM_CONTEXT_ORDERED has the library order the
 * uses of this context's slices: each use waits for the earlier uses on other streams, of this or
 * of another context, that it conflicts with, because one of the two writes and they share a byte.
 * Uses are arguments of launches (all of the slice or view, written, unless km_launch_operand or
 * km_launch_arg_slice_access says less), copies, fills, operands of BLAS, and what the nodes of a
 * launched graph use; captured uses become dependencies between nodes. Numbers that streams write
 * and wait for, callbacks, and addresses that a kernel is given as such are not ordered. The stream
 * waits, not the call. Where all uses are on one stream this costs a comparison for each. What
 * order is kept, and what is left to the caller, is in docs/guide/ordering.md. KM_CONTEXT_CHECKED
 * has each access of a kernel tested against the context's allocations, so that the first wrong one
 * stops the kernel with KM_ERROR_ILLEGAL_ADDRESS; the environment variable KM_CPU_MEMORY has the
 * last word. CPU devices can do that (docs/guide/checked-memory.md has the cost), others ignore it:
 * km_context_flags_get tells. The handle is the caller's, to be given to km_context_destroy. CUDA:
 * the primary context of the device, with cuEventRecord and cuStreamWaitEvent between the uses;
 * compute-sanitizer tests accesses there.
 * Status: KM_ERROR_INVALID_ARGUMENT when `flags` has unknown bits; KM_ERROR_NOT_SUPPORTED when the
 *   backend runs nothing or cannot order uses; KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has no
 *   room for a context.
 */
KM_API km_status km_context_create_with_flags(km_device device, km_context_flags flags,
                                              km_context* out_context) KM_NOEXCEPT;

/** The flags that hold for the context: those that it was opened with, but KM_CONTEXT_CHECKED only
 * if accesses of its kernels are tested. CUDA: cuCtxGetFlags. */
KM_API km_status km_context_flags_get(km_context context, km_context_flags* out_flags) KM_NOEXCEPT;

/** Drops the caller's handle. Streams, slices, modules and all other children keep the context
 * alive; queued work goes on. Null is fine. */
KM_API km_status km_context_destroy(km_context context) KM_NOEXCEPT;

/** The device of a context, as a new handle that is the caller's to destroy. */
KM_API km_status km_context_device(km_context context, km_device* out_device) KM_NOEXCEPT;

/** The context's default stream, the same for every call until a reset, as a new handle that is the
 * caller's to destroy. It is a stream like any other and does not wait for others.
 * Status: the sticky error.
 */
KM_API km_status km_context_default_stream(km_context context, km_stream* out_stream) KM_NOEXCEPT;

/** Waits until the work of all streams of the context is done, and writes what kernels printed to
 * the output. CUDA: cuCtxSynchronize.
 * Blocking: until all queued work is done.
 * Status: KM_ERROR_NOT_PERMITTED when called inside a callback of this library; the sticky error.
 */
KM_API km_status km_context_synchronize(km_context context) KM_RUNS_CALLBACKS;

/** The device's memory, in bytes: what can still be allocated now, and all of it. CUDA:
 * cuMemGetInfo. */
KM_API km_status km_context_memory_info(km_context context, uint64_t* out_free_bytes,
                                        uint64_t* out_total_bytes) KM_NOEXCEPT;

/** Stops running kernels, drops queued work (host callbacks get its status) and clears the sticky
 * error. Every handle made from the context before is lost: it gives KM_ERROR_CONTEXT_LOST and is
 * to be destroyed, while its host-visible memory stays mapped until then. The context itself can
 * be used on. CUDA: cuDevicePrimaryCtxReset.
 * Blocking: until running kernels have stopped.
 * Status: KM_ERROR_NOT_PERMITTED when called inside a callback of this library;
 *   KM_ERROR_PROCESS_LOST when the device cannot recover within this process.
 */
KM_API km_status km_context_reset(km_context context) KM_RUNS_CALLBACKS;

/** A limit of the context. CUDA: cuCtxGetLimit.
 * Status: KM_ERROR_INVALID_ARGUMENT when `limit` is no limit; KM_ERROR_NOT_SUPPORTED when the
 *   device has no such limit.
 */
KM_API km_status km_context_limit_get(km_context context, km_context_limit limit,
                                      uint64_t* out_value) KM_NOEXCEPT;

/** Sets a limit of the context, for work that is queued afterwards. The device may have more than
 * what is asked for; km_context_limit_get tells. It stays when the context is reset. CUDA:
 * cuCtxSetLimit.
 * Status: KM_ERROR_INVALID_ARGUMENT when `limit` is no limit; KM_ERROR_NOT_SUPPORTED when the
 *   device has no such limit, or cannot have that much.
 */
KM_API km_status km_context_limit_set(km_context context, km_context_limit limit,
                                      uint64_t value) KM_NOEXCEPT;

/** Has what kernels print, and the lines of failed assertions, given to `callback`, on the thread
 * that synchronises, one call at a time; null means standard output and standard error, as at the
 * start. `user_data` must stay valid until another callback is set or the context is gone.
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

/** Ends what km_context_enable_peer_access began, for later launches. CUDA: cuCtxDisablePeerAccess.
 * Status: KM_ERROR_INVALID_ARGUMENT when both are the same; KM_ERROR_NOT_SUPPORTED when the devices
 *   cannot reach each other's memory; never KM_ERROR_CONTEXT_MISMATCH.
 */
KM_API km_status km_context_disable_peer_access(km_context context, km_context peer) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif

/* The flag by which debug builds check: KM_CONTEXT_CHECKED where C or C++ is compiled without
 * NDEBUG, as assert() is on there; nothing else. km_context_create has it then, and calls of
 * km_context_create_with_flags may add it: KM_CONTEXT_ORDERED | KM_CONTEXT_BUILD. Bindings, which
 * see the handles as numbers, decide by the builds of their own languages. */
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
