/* The base of the C ABI: statuses, handles, and the rules for every function.
 *
 * Example:
 *   km_build_info info;
 *   info.struct_size = sizeof info;
 *   KM_CHECK(km_build_info_get(&info));
 *   printf("%u.%u.%u, build %s\n", info.version_major, info.version_minor, info.version_patch,
 *          info.build_id);
 *
 * Each function returns a km_status; results come through the last parameters, named out_..., which
 * stay untouched when it fails. km_last_error_message has the text of the failure.
 *
 * Unless its comment says otherwise, this holds for each function:
 *  - Blocking: no. It never waits for work of a device.
 *  - Threads: any. Any number of threads may call it at once, also on the same object.
 *  - Status: KM_SUCCESS, and
 *     - KM_ERROR_INVALID_HANDLE when a handle that it takes is not a live handle of that type
 *       (null, destroyed, of another type, made up). Calls that destroy take null, too.
 *     - KM_ERROR_CONTEXT_LOST when the context of an object that it takes was reset after the
 *       object's creation. Calls that destroy still work.
 *     - KM_ERROR_CONTEXT_MISMATCH when it takes several objects, and they are of different
 *       contexts.
 *     - KM_ERROR_INVALID_ARGUMENT when an out-parameter is null, or the struct_size of the
 *       structure to be filled is below 4.
 *     - Text calls (`buffer`, `capacity_bytes`, `out_size_bytes`) copy out: buffer null and
 *       capacity 0 ask for the size, closing zero included. KM_ERROR_BUFFER_TOO_SMALL when the text
 *       needs more than the capacity; KM_ERROR_INVALID_ARGUMENT when `buffer` is null and the
 *       capacity is not 0, or `buffer` and `out_size_bytes` are both null.
 *     - Calls that add a node to a graph: KM_ERROR_INVALID_ARGUMENT when `dependencies` is null and
 *       `dependency_count` is not 0, names no node of the graph, or names one twice.
 *     - KM_ERROR_OUT_OF_HOST_MEMORY when the host is out of memory, KM_ERROR_INTERNAL when the
 *       library has a defect, and KM_ERROR_FORKED, for all but versions, status texts and last
 *       errors, in the child of a process that used the library.
 *  - A function's comment adds the statuses that are not listed here; "never" excludes one that is;
 *    a condition that it gives for KM_ERROR_CONTEXT_LOST, _MISMATCH or _BUFFER_TOO_SMALL replaces
 *    the one above.
 *  - "The sticky error": a kernel that fails puts its context into an error, from
 *    KM_ERROR_ILLEGAL_ADDRESS on. Calls that allocate, queue or wait return it until
 *    km_context_reset; their comments list it by this name.
 *
 * Without exception:
 *  - Handles are checked ids, not pointers. A value that is not a live handle is refused, and
 *    nothing happens to it.
 *  - Destroying drops the caller's reference only: children keep their parents, queued work keeps
 *    what it uses, and the order does not matter. Every handle that a call gives out is the
 *    caller's own, until its destroy call.
 *  - Sizes are in bytes, counts in elements, times in nanoseconds. Strings are UTF-8 and end with a
 *    zero. A text that is passed with its size (source, header, PTX) ends there, and the size may
 *    count the closing zero; with size 0 it ends with its closing zero.
 *  - No call is a cancellation point: a cancellation of the thread that makes it (pthread_cancel)
 *    is acted upon at the first cancellation point after its return. Threads that are cancelled
 *    asynchronously (PTHREAD_CANCEL_ASYNCHRONOUS) may not make calls.
 *  - While a stream is captured (km_stream_begin_capture), calls that queue work in it become nodes
 *    of a graph and run nothing; other calls on it can return KM_ERROR_CAPTURE_UNSUPPORTED and
 *    KM_ERROR_CAPTURE_INVALIDATED. The memory of the caller that captured work uses has to stay
 *    valid while the graph and the executable graphs made from it exist.
 *  - Calls that read a file take regular files only and never wait for a pipe or device. Calls that
 *    write one put a new file in the place of a regular file when it is whole, and keep the mode; a
 *    symbolic link stays and the file that it names is written; pipes and devices are written
 *    through.
 *  - Output structures begin with struct_size, which the caller sets to the sizeof of the structure
 *    as it knows it; the library writes no more than that, and leaves further fields unchanged.
 *  - Signatures and values never change; names are added.
 */
#ifndef KERNELMILL_BASE_H
#define KERNELMILL_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#error "Kernelmill is tested on Linux x86-64 only"
#endif

#if defined(KM_BUILDING_LIBRARY)
#define KM_API __attribute__((visibility("default")))
#else
#define KM_API
#endif

#ifdef __cplusplus
#define KM_NOEXCEPT noexcept
#define KM_CHECK_SIZE(type, size) static_assert(sizeof(type) == (size), "layout of " #type)
extern "C" {
#else
#define KM_NOEXCEPT
#define KM_CHECK_SIZE(type, size) _Static_assert(sizeof(type) == (size), "layout of " #type)
#endif
/* Marks the calls within which callbacks may run on the caller's thread. They throw nothing either,
 * but a callback may end the thread (pthread_exit), which unwinds the caller's frames. */
#define KM_RUNS_CALLBACKS

#define KM_VERSION_MAJOR 1
#define KM_VERSION_MINOR 0
#define KM_VERSION_PATCH 0

/* Handles. Distinct pointer types, so that the compiler tells them apart, or plain 64-bit numbers
 * for languages that want those (the ABI is the same); never pointers to anything. */
#if defined(SWIG) || defined(KM_HANDLES_AS_U64)
#define KM_HANDLE(name) typedef uint64_t name
#else
#define KM_HANDLE(name) typedef struct name##_handle* name
#endif
KM_HANDLE(km_device);
KM_HANDLE(km_context);
KM_HANDLE(km_stream);
KM_HANDLE(km_event);
KM_HANDLE(km_host_memory);
KM_HANDLE(km_slice);
KM_HANDLE(km_module);
KM_HANDLE(km_function);
KM_HANDLE(km_launch);
KM_HANDLE(km_program);
KM_HANDLE(km_pool);
KM_HANDLE(km_graph);
KM_HANDLE(km_graph_exec);
KM_HANDLE(km_blas);
KM_HANDLE(km_tune);
KM_HANDLE(km_fft);
#undef KM_HANDLE
KM_CHECK_SIZE(void*, 8);
KM_CHECK_SIZE(km_stream, 8);

/* Status. Values below 100 are not errors. */
typedef int32_t km_status;
enum {
  KM_SUCCESS = 0,
  KM_NOT_READY = 1, /* not an error: the work queried is still running */
  KM_TIMEOUT = 2,   /* not an error: the time limit of a wait passed */
  KM_ERROR_INTERNAL = 100,
  KM_ERROR_INVALID_ARGUMENT = 101,
  KM_ERROR_INVALID_HANDLE = 102,
  KM_ERROR_OUT_OF_HOST_MEMORY = 103,
  KM_ERROR_OUT_OF_DEVICE_MEMORY = 104,
  KM_ERROR_OUT_OF_BOUNDS = 105, /* offset or size beyond the allocation */
  KM_ERROR_NOT_FOUND = 106,     /* no such kernel, symbol, file ... */
  KM_ERROR_NOT_SUPPORTED = 107,
  KM_ERROR_NOT_PERMITTED = 108, /* for example, a blocking call in a host callback */
  KM_ERROR_BUFFER_TOO_SMALL = 109,
  KM_ERROR_IO = 110,
  KM_ERROR_CONTEXT_MISMATCH = 111,    /* objects of different contexts or devices together */
  KM_ERROR_CONTEXT_LOST = 112,        /* a child handle of a context that was reset */
  KM_ERROR_PROCESS_LOST = 113,        /* only a new process helps */
  KM_ERROR_FORKED = 114,              /* the process was forked after the library was used */
  KM_ERROR_CAPTURE_UNSUPPORTED = 115, /* a call that cannot be captured; the capture is invalid */
  KM_ERROR_CAPTURE_INVALIDATED = 116, /* by an earlier call: end it and begin again */
  KM_ERROR_CAPTURE_UNJOINED = 117,    /* the capture ended with work that nothing waits for */
  KM_ERROR_GRAPH_MISMATCH = 118,      /* an update changes more than parameters */
  KM_ERROR_RESULT_MISMATCH = 119,     /* a candidate's results differ from the first one's */
  KM_ERROR_BACKEND_UNAVAILABLE = 200,
  KM_ERROR_NO_DEVICE = 201,
  KM_ERROR_BUILD_MISMATCH = 202, /* library and plugin come from different builds */
  KM_ERROR_NVRTC_UNAVAILABLE = 203,
  KM_ERROR_BLAS_UNAVAILABLE = 204,
  KM_ERROR_UNSUPPORTED_BACKEND = 205, /* a known backend that no build for this platform has */
  KM_ERROR_INVALID_PTX = 300,
  KM_ERROR_UNSUPPORTED_PTX = 301,    /* valid PTX that this device cannot run */
  KM_ERROR_COMPILATION_FAILED = 302, /* CUDA C++ with errors; the log says which */
  KM_ERROR_COMPILER = 303,           /* the code generator failed */
  KM_ERROR_INVALID_LAUNCH = 304,     /* dimensions, shared memory or arguments do not fit */
  KM_ERROR_ILLEGAL_ADDRESS = 400,    /* faults of kernels begin here; they are sticky */
  KM_ERROR_MISALIGNED_ADDRESS = 401,
  KM_ERROR_TRAP = 402,
  KM_ERROR_ASSERT = 403,
  KM_ERROR_STACK_OVERFLOW = 404,
  KM_ERROR_ILLEGAL_INSTRUCTION = 405,
  KM_ERROR_LAUNCH_TIMEOUT = 406, /* KM_KERNEL_TIMEOUT_MS passed */
  KM_ERROR_LAUNCH_FAILED = 407
};

/* Structures that functions fill. If the library's structure is longer than the caller's, the rest
 * is not written; if it is shorter, the caller's further fields keep their values. */
typedef struct km_build_info {
  uint32_t struct_size;
  uint32_t version_major, version_minor, version_patch;
  char build_id[48]; /* equal for library and plugins of one build */
  char compiler[48];
} km_build_info;
KM_CHECK_SIZE(km_build_info, 112);

typedef int32_t km_element_type;
enum {
  KM_ELEMENT_TYPE_UNKNOWN = 0, /* fits every type, as a slice's type and as a parameter's */
  KM_ELEMENT_TYPE_VOID = 1,    /* only as what a pointer points to: slices of all types fit */
  KM_ELEMENT_TYPE_NAMED = 2,   /* a structure, union, enumeration or other type with a name */
  KM_ELEMENT_TYPE_POINTER = 3, /* an address; fits integers of 64 bits, and they fit it */
  KM_ELEMENT_TYPE_BOOL = 4,
  KM_ELEMENT_TYPE_CHAR = 5, /* slices of it, of I8 and of U8 fit every pointer */
  KM_ELEMENT_TYPE_I8 = 6,
  KM_ELEMENT_TYPE_U8 = 7,
  KM_ELEMENT_TYPE_I16 = 8, /* integers of one width fit each other, signed or not */
  KM_ELEMENT_TYPE_U16 = 9,
  KM_ELEMENT_TYPE_I32 = 10,
  KM_ELEMENT_TYPE_U32 = 11,
  KM_ELEMENT_TYPE_I64 = 12,
  KM_ELEMENT_TYPE_U64 = 13,
  KM_ELEMENT_TYPE_I128 = 14,
  KM_ELEMENT_TYPE_U128 = 15,
  KM_ELEMENT_TYPE_F16 = 16,
  KM_ELEMENT_TYPE_BF16 = 17,
  KM_ELEMENT_TYPE_F32 = 18, /* scalars fit vectors of them: slices of F32 a float4* */
  KM_ELEMENT_TYPE_F64 = 19,
  KM_ELEMENT_TYPE_F8_E4M3 = 20,
  KM_ELEMENT_TYPE_F8_E5M2 = 21
};

/* Callbacks run on threads of the library, or on the thread of the call that makes them due, with
 * cancellation disabled, and may not make calls that wait (KM_ERROR_NOT_PERMITTED). No exception
 * may leave them: it is dropped, with a line in the log. A callback that ends its thread
 * (pthread_exit) counts as returned: another thread takes the place of one of the library's, and a
 * thread of the program's ends when the call is complete. Once the process exits (by exit or a
 * return from main), the host and release callbacks of its contexts are no longer called. `text` of
 * an output callback does not end with a zero. */
typedef void (*km_host_callback)(void* user_data, km_status status);

typedef void (*km_release_callback)(void* user_data);

/* An allocator of the host program, for km_set_allocator; called on any thread. Memory from
 * `allocate` must be aligned to 16 bytes; null means that there is none. */
typedef uint32_t km_host_allocation_flags;
enum {
  KM_HOST_ALLOCATION_DEFAULT = 0,
  KM_HOST_ALLOCATION_NEEDED = 1 /* the caller cannot continue without the memory */
};

typedef void* (*km_allocate_callback)(void* user_data, uint64_t size_bytes,
                                      km_host_allocation_flags flags);

typedef void (*km_free_callback)(void* user_data, void* pointer);

/** The version of the library in use, which may be newer than this header. */
KM_API km_status km_version(uint32_t* out_major, uint32_t* out_minor,
                            uint32_t* out_patch) KM_NOEXCEPT;

/** Version, build id and compiler of the library in use. Set `out_info->struct_size` first. */
KM_API km_status km_build_info_get(km_build_info* out_info) KM_NOEXCEPT;

/** Makes the library allocate its own host memory (objects, queues, texts; not device memory and
 * not stacks) with these functions from now on; null for both selects malloc again. Earlier
 * allocations are released by the function that belongs to their allocator, so the functions have
 * to work until the process ends. They may not call this library, and have to return. If `allocate`
 * returns null, the call that needed the memory fails with KM_ERROR_OUT_OF_HOST_MEMORY; for
 * KM_HOST_ALLOCATION_NEEDED the library has a reserve, and when that is used up, too, the code
 * generator gives up (KM_ERROR_OUT_OF_HOST_MEMORY) and other threads wait until there is memory.
 * Status: KM_ERROR_INVALID_ARGUMENT when only one of the functions is null; KM_ERROR_NOT_SUPPORTED
 *   when the library was built with a sanitizer.
 */
KM_API km_status km_set_allocator(km_allocate_callback allocate, km_free_callback release,
                                  void* user_data) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
