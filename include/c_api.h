/* Kernelmill: runs CUDA-style kernels (PTX or CUDA C++) on NVIDIA GPUs and on any CPU.
 *
 * What holds for every function:
 *  - It returns a km_status; results come through the last parameters, named out_..., which stay
 *    untouched when it fails. km_last_error_message has the text of the failure.
 *  - Handles are checked ids, not pointers. Whatever is not a live handle of the right type (null,
 *    destroyed, of another type, made up) gives KM_ERROR_INVALID_HANDLE and has no effect.
 *  - Destroying drops the caller's reference only: children keep their parents, queued work keeps
 *    what it uses, and the order does not matter. Every handle that a call gives out is the
 *    caller's own and wants its destroy call.
 *  - "Threads: any" means that any number of threads may call it at once, also on the same object.
 *  - "Blocking: no" means that it never waits for work of a device.
 *  - Beside the statuses listed it can return KM_ERROR_OUT_OF_HOST_MEMORY when the host is out of
 *    memory, KM_ERROR_INTERNAL when the library has a defect, and KM_ERROR_FORKED, for all but
 *    versions, status texts and last errors, in the child of a process that used the library.
 *  - Sizes are in bytes, counts in elements, times in nanoseconds. Strings are UTF-8 and end with a
 *    zero. A text that comes with a size (source, header, PTX) ends there, and the size may count
 *    the closing zero; with size 0 it ends with its closing zero.
 *  - No call is a cancellation point: a cancellation of the thread that makes it (pthread_cancel)
 *    is acted upon at the first cancellation point after its return. Threads that are cancelled
 *    asynchronously (PTHREAD_CANCEL_ASYNCHRONOUS) may not make calls.
 *  - A kernel that fails puts its context into a sticky error (KM_ERROR_ILLEGAL_ADDRESS and what
 *    follows): calls that allocate, enqueue or wait return it until km_context_reset.
 *  - While a stream is captured (km_stream_begin_capture), calls that queue work in it become nodes
 *    of a graph and run nothing; other calls on it can return KM_ERROR_CAPTURE_UNSUPPORTED and
 *    KM_ERROR_CAPTURE_INVALIDATED. The memory of the caller that captured work uses has to stay
 *    valid while the graph and what is instantiated from it live.
 *  - Text calls copy out: buffer null and capacity 0 ask for the size, closing zero included.
 *  - Calls that read a file take regular files only and never wait for a pipe or device. Calls that
 *    write one put a new file in the place of a regular file when it is whole, and keep the mode; a
 *    symbolic link stays and what it names is written; pipes and devices are written through.
 *  - Output structures begin with struct_size, which the caller sets to the sizeof of the structure
 *    as it knows it; the library writes no more than that.
 *  - Signatures and values never change; names are added.
 */
#ifndef KERNELMILL_C_API_H
#define KERNELMILL_C_API_H

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
extern "C" {
#else
#define KM_NOEXCEPT
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
#undef KM_HANDLE

/* Status. Values below 100 are no errors. */
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
  KM_ERROR_NOT_PERMITTED = 108, /* for example a blocking call in a host callback */
  KM_ERROR_BUFFER_TOO_SMALL = 109,
  KM_ERROR_IO = 110,
  KM_ERROR_CONTEXT_MISMATCH = 111,    /* objects of different contexts or devices together */
  KM_ERROR_CONTEXT_LOST = 112,        /* a child handle of a context that was reset */
  KM_ERROR_PROCESS_LOST = 113,        /* only a new process helps */
  KM_ERROR_FORKED = 114,              /* the process was forked after the library was used */
  KM_ERROR_CAPTURE_UNSUPPORTED = 115, /* a call that cannot be captured; the capture is invalid */
  KM_ERROR_CAPTURE_INVALIDATED = 116, /* by an earlier call: end the capture and begin again */
  KM_ERROR_CAPTURE_UNJOINED = 117,    /* the capture ended with work that nothing waits for */
  KM_ERROR_GRAPH_MISMATCH = 118,      /* an update changes more than parameters */
  KM_ERROR_RESULT_MISMATCH = 119,     /* of a candidate of a tuning: not what the first one left */
  KM_ERROR_BACKEND_UNAVAILABLE = 200,
  KM_ERROR_NO_DEVICE = 201,
  KM_ERROR_BUILD_MISMATCH = 202, /* library and plugin come from different builds */
  KM_ERROR_NVRTC_UNAVAILABLE = 203,
  KM_ERROR_BLAS_UNAVAILABLE = 204,
  KM_ERROR_UNSUPPORTED_BACKEND = 205, /* known, and no build for this platform has it */
  KM_ERROR_INVALID_PTX = 300,
  KM_ERROR_UNSUPPORTED_PTX = 301,    /* valid PTX that this device cannot run */
  KM_ERROR_COMPILATION_FAILED = 302, /* CUDA C++ with errors; the log says which */
  KM_ERROR_COMPILER = 303,           /* the code generator failed */
  KM_ERROR_INVALID_LAUNCH = 304,     /* dimensions, shared memory or arguments */
  KM_ERROR_ILLEGAL_ADDRESS = 400,    /* from here on: faults of kernels, sticky */
  KM_ERROR_MISALIGNED_ADDRESS = 401,
  KM_ERROR_TRAP = 402,
  KM_ERROR_ASSERT = 403,
  KM_ERROR_STACK_OVERFLOW = 404,
  KM_ERROR_ILLEGAL_INSTRUCTION = 405,
  KM_ERROR_LAUNCH_TIMEOUT = 406, /* KM_KERNEL_TIMEOUT_MS passed */
  KM_ERROR_LAUNCH_FAILED = 407
};

typedef int32_t km_error_category;
enum {
  KM_ERROR_CATEGORY_NONE = 0,
  KM_ERROR_CATEGORY_USAGE = 1,
  KM_ERROR_CATEGORY_RESOURCE = 2,
  KM_ERROR_CATEGORY_ENVIRONMENT = 3,
  KM_ERROR_CATEGORY_PROGRAM = 4,
  KM_ERROR_CATEGORY_KERNEL_FAULT = 5,
  KM_ERROR_CATEGORY_INTERNAL = 6
};

/* Failures of one call of a context, for one reason, one right after the other. */
enum { KM_CONTEXT_ERROR_CAPACITY = 64 }; /* records that a context keeps */
typedef struct km_error_record {
  uint32_t struct_size;
  km_status status;
  km_error_category category;
  uint32_t reserved;
  uint64_t id;          /* rises with each record of the context */
  uint64_t count;       /* how often */
  int64_t time_ns;      /* of the first, since the Unix epoch */
  int64_t last_time_ns; /* of the last */
  int64_t native_code;
  char call[64];      /* "km_launch_submit" */
  char message[1024]; /* cut where longer */
} km_error_record;
/* The number of times that a status occurred. Frozen for ever. */
typedef struct km_error_count {
  km_status status;
  km_error_category category;
  uint64_t count;
  int64_t last_time_ns; /* since the Unix epoch */
} km_error_count;

/* Structures that functions fill. Those that the library knows more of than the caller are cut,
 * those that it knows less of keep the rest of what they had. */
typedef struct km_build_info {
  uint32_t struct_size;
  uint32_t version_major, version_minor, version_patch;
  char build_id[48]; /* equal for library and plugins of one build */
  char compiler[48];
} km_build_info;

typedef struct km_backend_info {
  uint32_t struct_size;
  uint32_t device_count;
  km_status status; /* KM_SUCCESS: usable */
  uint32_t reserved;
  char name[32];    /* "cpu" */
  char reason[512]; /* why it is not usable */
} km_backend_info;

typedef struct km_device_info {
  uint32_t struct_size;
  uint32_t ordinal;
  char uri[32]; /* "cpu:0" */
  char backend[32];
  char name[128];
  uint64_t total_memory_bytes;
  uint32_t compute_capability_major, compute_capability_minor;
  uint32_t multiprocessor_count;
  uint32_t warp_size;
  uint32_t max_threads_per_block;
  uint32_t max_block_dim[3]; /* threads along x, y, z */
  uint32_t max_grid_dim[3];  /* blocks along x, y, z */
  uint32_t reserved;
  uint64_t shared_bytes_per_block;     /* without opting in */
  uint64_t shared_bytes_per_block_max; /* with KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES */
  uint64_t clock_rate_khz;             /* 0: unknown */
  uint64_t memory_clock_rate_khz;      /* 0: unknown */
  uint32_t memory_bus_width_bits;      /* 0: unknown */
  uint32_t threads;                    /* worker threads of a CPU device, else 0 */
  char isa[32];                        /* "avx512", "avx2", "x86-64-v2"; "sm_90" */
} km_device_info;

typedef int32_t km_device_attribute;
enum {
  KM_DEVICE_ATTRIBUTE_INVALID = 0,
  KM_DEVICE_ATTRIBUTE_WARP_SIZE = 1,
  KM_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 2,
  KM_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 3,
  KM_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 4,
  KM_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 5,
  KM_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 6,
  KM_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 7,
  KM_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 8,
  KM_DEVICE_ATTRIBUTE_SHARED_BYTES_PER_BLOCK = 9,
  KM_DEVICE_ATTRIBUTE_SHARED_BYTES_PER_BLOCK_MAX = 10,
  KM_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 11,
  KM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 12,
  KM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 13,
  KM_DEVICE_ATTRIBUTE_CLOCK_RATE_KHZ = 14,
  KM_DEVICE_ATTRIBUTE_MEMORY_BUS_WIDTH_BITS = 15,
  KM_DEVICE_ATTRIBUTE_UNIFIED_MEMORY = 16,        /* 1: device memory is host memory */
  KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST = 17, /* the highest number */
  KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST = 18,
  KM_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 19,
  KM_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 20,
  KM_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 21,
  KM_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_BYTES = 22,
  KM_DEVICE_ATTRIBUTE_L2_CACHE_BYTES = 23,
  /* From here on CUDA's: KM_DEVICE_ATTRIBUTE_CUDA + n is its CU_DEVICE_ATTRIBUTE of number n, in
   * CUDA's unit. docs/reference/device-attributes.md. */
  KM_DEVICE_ATTRIBUTE_CUDA = 1000
};
typedef struct km_device_attribute_info {
  uint32_t struct_size;
  km_device_attribute attribute;
  int32_t cuda_attribute; /* number of the same in CUDA; 0: it has none */
  uint32_t reserved;
  char name[96]; /* as CUDA spells it, without CU_DEVICE_ATTRIBUTE_ */
  char unit[16]; /* "bytes", "threads", "kHz", "flag" ... */
} km_device_attribute_info;

typedef int32_t km_auto_outcome;
enum {
  KM_AUTO_INVALID = 0,
  KM_AUTO_CHOSEN = 1,
  KM_AUTO_REFUSED = 2,  /* it does not work here */
  KM_AUTO_NOT_TRIED = 3 /* another one was chosen before, or KM_DEVICE names another */
};
/* A backend as a candidate of "auto". */
typedef struct km_auto_candidate {
  uint32_t struct_size;
  km_auto_outcome outcome;
  km_status status; /* why it was refused, else KM_SUCCESS */
  uint32_t reserved;
  char uri[48]; /* "cuda:0" */
  char reason[512];
} km_auto_candidate;

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

typedef int32_t km_occupancy_limit;
enum {
  KM_OCCUPANCY_LIMIT_INVALID = 0,
  KM_OCCUPANCY_LIMIT_WARPS = 1,
  KM_OCCUPANCY_LIMIT_REGISTERS = 2,
  KM_OCCUPANCY_LIMIT_SHARED_MEMORY = 3,
  KM_OCCUPANCY_LIMIT_BLOCKS = 4
};
/* How many blocks of a kernel a multiprocessor holds at a time, and why no more. */
typedef struct km_occupancy {
  uint32_t struct_size;
  uint32_t active_blocks;
  uint32_t active_warps, max_warps; /* of a multiprocessor */
  uint32_t percent;                 /* of the warps */
  km_occupancy_limit limit;         /* what allows the fewest blocks; the first of several */
  /* Blocks that each would allow by itself; UINT32_MAX: any number. */
  uint32_t blocks_by_warps, blocks_by_registers, blocks_by_shared_memory, blocks_by_blocks;
  uint32_t registers_per_block; /* as they are given out */
  uint32_t reserved;
  uint64_t shared_bytes_per_block; /* as they are given out */
} km_occupancy;

typedef int32_t km_capture_status;
enum {
  KM_CAPTURE_STATUS_INVALID = 0,
  KM_CAPTURE_STATUS_NONE = 1,
  KM_CAPTURE_STATUS_ACTIVE = 2,
  KM_CAPTURE_STATUS_INVALIDATED = 3 /* km_stream_end_capture ends it, without a graph */
};

typedef int32_t km_graph_node_kind;
enum {
  KM_GRAPH_NODE_INVALID = 0,
  KM_GRAPH_NODE_KERNEL = 1,
  KM_GRAPH_NODE_COPY = 2, /* within the device */
  KM_GRAPH_NODE_UPLOAD = 3,
  KM_GRAPH_NODE_DOWNLOAD = 4,
  KM_GRAPH_NODE_FILL = 5,
  KM_GRAPH_NODE_HOST = 6, /* a call of a host function */
  KM_GRAPH_NODE_EMPTY = 7,
  KM_GRAPH_NODE_CHILD = 8, /* a whole graph */
  KM_GRAPH_NODE_COPY_3D = 9,
  KM_GRAPH_NODE_UPLOAD_3D = 10,
  KM_GRAPH_NODE_DOWNLOAD_3D = 11,
  KM_GRAPH_NODE_FILL_2D = 12,
  KM_GRAPH_NODE_COPY_PEER = 13, /* between contexts */
  KM_GRAPH_NODE_BLAS = 14,
  KM_GRAPH_NODE_MEMORY_OPS = 64 /* a number that is written or waited for */
};
typedef int32_t km_graph_difference;
enum {
  KM_GRAPH_DIFFERENCE_INVALID = 0,
  KM_GRAPH_DIFFERENCE_NONE = 1, /* parameters at most */
  KM_GRAPH_DIFFERENCE_NODE_COUNT = 2,
  KM_GRAPH_DIFFERENCE_NODE_KIND = 3,
  KM_GRAPH_DIFFERENCE_DEPENDENCIES = 4,
  KM_GRAPH_DIFFERENCE_CHILD = 5 /* inside a child graph */
};
/* Parameters of a node; what its kind does not have is 0. */
typedef struct km_graph_node_info {
  uint32_t struct_size;
  km_graph_node_kind kind;
  uint64_t dependency_count, dependent_count;
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t shared_bytes;
  uint64_t arguments_size_bytes;
  uint64_t destination, source; /* device addresses, or pointers of the host */
  uint64_t size_bytes;          /* of a copy or fill */
  uint32_t value, value_size_bytes;
  uint64_t callback, user_data; /* pointers of the host, as numbers */
} km_graph_node_info;

typedef int32_t km_profile_kind;
enum {
  KM_PROFILE_KIND_INVALID = 0,
  KM_PROFILE_KIND_KERNEL = 1,
  KM_PROFILE_KIND_COPY = 2, /* within the device */
  KM_PROFILE_KIND_UPLOAD = 3,
  KM_PROFILE_KIND_DOWNLOAD = 4,
  KM_PROFILE_KIND_FILL = 5,
  KM_PROFILE_KIND_CALLBACK = 6,
  KM_PROFILE_KIND_RANGE = 7, /* of the host, as the following */
  KM_PROFILE_KIND_WAIT = 8
};
/* All work of one kind and name. */
typedef struct km_profile_row {
  uint32_t struct_size;
  km_profile_kind kind;
  char name[128]; /* of the kernel or range; cut where longer */
  uint64_t count;
  uint64_t total_ns, min_ns, max_ns;
  uint64_t size_bytes;            /* moved by copies and fills, or as km_profiler_set_work says */
  uint64_t operations;            /* as km_profiler_set_work says */
  uint64_t bytes_per_second;      /* while the work ran */
  uint64_t operations_per_second; /* while the work ran */
  uint32_t occupancy_percent;     /* of the device's threads that took part, by the mean */
  uint32_t reserved;
} km_profile_row;

typedef uint32_t km_context_flags;
enum {
  KM_CONTEXT_DEFAULT = 0,
  KM_CONTEXT_ORDERED = 1 /* uses of its slices on different streams are ordered */
};
typedef uint32_t km_stream_flags;
enum { KM_STREAM_DEFAULT = 0 };
typedef uint32_t km_event_flags;
enum { KM_EVENT_DEFAULT = 0, KM_EVENT_DISABLE_TIMING = 1 };
typedef uint32_t km_host_memory_flags;
enum { KM_HOST_MEMORY_DEFAULT = 0 };
typedef uint32_t km_slice_flags;
enum {
  KM_SLICE_DEFAULT = 0,
  KM_SLICE_ZEROED = 1,
  KM_SLICE_MANAGED = 2 /* of km_slice_create: host and device share it */
};
/* The condition on a number in memory that a stream waits for. */
typedef int32_t km_wait_condition;
enum {
  KM_WAIT_CONDITION_INVALID = 0,
  KM_WAIT_CONDITION_GREATER_EQUAL = 1, /* round: the difference, as a signed number, is >= 0 */
  KM_WAIT_CONDITION_EQUAL = 2,
  KM_WAIT_CONDITION_AND = 3, /* a bit is 1 in both */
  KM_WAIT_CONDITION_NOR = 4  /* a bit is 0 in both */
};

typedef struct km_slice_info {
  uint32_t struct_size;
  uint32_t is_view;
  uint64_t address; /* device address of the first element */
  uint64_t element_count;
  uint64_t element_size_bytes;
  uint64_t size_bytes;
} km_slice_info;

typedef uint32_t km_map_flags;
enum { KM_MAP_READ_ONLY = 0, KM_MAP_PRIVATE = 1 /* writable, the file never changes */ };

/* The way in which a tracked allocation was made. */
typedef int32_t km_allocation_kind;
enum {
  KM_ALLOCATION_UNKNOWN = 0,
  KM_ALLOCATION_DEVICE = 1,  /* km_slice_create and its kin */
  KM_ALLOCATION_POOL = 2,    /* km_pool_allocate */
  KM_ALLOCATION_HOST = 3,    /* km_host_memory_create */
  KM_ALLOCATION_FOREIGN = 4, /* km_slice_from_host, km_host_memory_register */
  KM_ALLOCATION_FILE = 5     /* km_slice_map_file, km_host_memory_map_file */
};
typedef uint32_t km_tracking_flags;
enum { KM_TRACKING_OFF = 0, KM_TRACKING_ON = 1, KM_TRACKING_STACKS = 2 /* and where */ };
enum { KM_ALLOCATION_FRAMES = 16, KM_ALLOCATION_TAG_BYTES = 64 };

typedef struct km_allocation_info {
  uint32_t struct_size;
  km_allocation_kind kind;
  uint64_t id; /* rises with each allocation of the context */
  uint64_t address, size_bytes;
  int64_t time_ns;      /* since the Unix epoch */
  uint32_t frame_count; /* of the stack; 0 without KM_TRACKING_STACKS */
  uint32_t reserved;
  uint64_t frames[16]; /* return addresses, the innermost first */
  char tag[64];        /* cut where longer */
} km_allocation_info;

/* The part of its device's memory that a context has in use: its slices and what its pools have
 * given out. */
typedef struct km_memory_profile {
  uint32_t struct_size;
  uint32_t is_running;
  uint64_t interval_ns;
  uint64_t sample_count;
  uint64_t used_bytes;                /* now, also without a profile */
  uint64_t peak_bytes, minimum_bytes; /* exact, not sampled */
  uint64_t mean_bytes;                /* of the samples */
  uint64_t allocation_count, free_count;
} km_memory_profile;
/* Frozen for ever. */
typedef struct km_memory_sample {
  uint64_t time_ns; /* since the profile began */
  uint64_t used_bytes;
} km_memory_sample;

typedef struct km_pool_info {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t limit_bytes; /* 0: none */
  uint64_t release_threshold_bytes;
  uint64_t used_bytes, used_high_bytes;         /* of blocks in use, now and at most */
  uint64_t reserved_bytes, reserved_high_bytes; /* of all blocks */
  uint64_t used_block_count;
  uint64_t allocation_count; /* since the pool was created */
  uint64_t reuse_count;      /* of those, the ones that took a block that was there */
} km_pool_info;

typedef int32_t km_function_attribute;
enum {
  KM_FUNCTION_ATTRIBUTE_INVALID = 0,
  KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  KM_FUNCTION_ATTRIBUTE_SHARED_BYTES = 2, /* static */
  KM_FUNCTION_ATTRIBUTE_CONSTANT_BYTES = 3,
  KM_FUNCTION_ATTRIBUTE_LOCAL_BYTES = 4, /* per thread */
  KM_FUNCTION_ATTRIBUTE_REGISTERS = 5,
  KM_FUNCTION_ATTRIBUTE_PTX_VERSION = 6,              /* 90 for ISA 9.0 */
  KM_FUNCTION_ATTRIBUTE_TARGET = 7,                   /* 80 for sm_80 */
  KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES = 8, /* settable */
  KM_FUNCTION_ATTRIBUTE_EXECUTION_MODE = 9,           /* km_execution_mode, CPU only */
  KM_FUNCTION_ATTRIBUTE_BINARY_VERSION = 10,          /* 90 for code made for sm_90 */
  KM_FUNCTION_ATTRIBUTE_CACHE_GLOBALS = 11,           /* 1: global loads go through L1 */
  KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT = 12, /* settable; -1: the driver's choice */
  KM_FUNCTION_ATTRIBUTE_CLUSTER_REQUIRED = 13,        /* 1: only launched in clusters */
  KM_FUNCTION_ATTRIBUTE_CLUSTER_X = 14,               /* .reqnctapercluster; 0: any */
  KM_FUNCTION_ATTRIBUTE_CLUSTER_Y = 15,
  KM_FUNCTION_ATTRIBUTE_CLUSTER_Z = 16,
  KM_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER = 17, /* settable: clusters of more than 8 blocks */
  KM_FUNCTION_ATTRIBUTE_CLUSTER_POLICY = 18        /* settable: CUclusterSchedulingPolicy */
};
typedef int32_t km_execution_mode;
enum {
  KM_EXECUTION_MODE_UNKNOWN = 0,
  KM_EXECUTION_MODE_RUN_TO_COMPLETION = 1,
  KM_EXECUTION_MODE_SUSPENDABLE_WARPS = 2,
  KM_EXECUTION_MODE_SPLIT_WARPS = 3
};

typedef int32_t km_param_kind;
enum {
  KM_PARAM_KIND_UNKNOWN = 0, /* 64 bits that may be an address: CUDA C++ declares no more */
  KM_PARAM_KIND_POINTER = 1, /* the kernel uses it as an address */
  KM_PARAM_KIND_VALUE = 2
};
typedef int32_t km_param_type;
enum {
  KM_PARAM_TYPE_UNKNOWN = 0, /* bits, an array or a structure, or the backend does not know */
  KM_PARAM_TYPE_INTEGER = 1, /* signed or unsigned: CUDA C++ declares no more */
  KM_PARAM_TYPE_FLOAT = 2
};
typedef struct km_param_info {
  uint32_t struct_size;
  km_param_kind kind;
  uint64_t size_bytes, align_bytes, offset_bytes;
  km_param_type value_type;
  uint32_t reserved;
} km_param_info;

/* The types of kernels' parameters as CUDA C++ has them, which PTX does not say. */
typedef int32_t km_signature_kind;
enum {
  KM_SIGNATURE_KIND_UNKNOWN = 0, /* neither the source nor the kernel's name tells the type */
  KM_SIGNATURE_KIND_POINTER = 1, /* a pointer or a reference; `element` is what it points to */
  KM_SIGNATURE_KIND_VALUE = 2    /* `element` is the type of the value itself */
};
typedef int32_t km_element_type;
enum {
  KM_ELEMENT_TYPE_UNKNOWN = 0,
  KM_ELEMENT_TYPE_VOID = 1,    /* behind a pointer only: elements of any type */
  KM_ELEMENT_TYPE_NAMED = 2,   /* a structure, union, enumeration or other type with a name */
  KM_ELEMENT_TYPE_POINTER = 3, /* an address: behind a pointer, an array of addresses */
  KM_ELEMENT_TYPE_BOOL = 4,
  KM_ELEMENT_TYPE_CHAR = 5, /* plain char; elements of I8 and U8 fit it, too */
  KM_ELEMENT_TYPE_I8 = 6,
  KM_ELEMENT_TYPE_U8 = 7,
  KM_ELEMENT_TYPE_I16 = 8,
  KM_ELEMENT_TYPE_U16 = 9,
  KM_ELEMENT_TYPE_I32 = 10,
  KM_ELEMENT_TYPE_U32 = 11,
  KM_ELEMENT_TYPE_I64 = 12,
  KM_ELEMENT_TYPE_U64 = 13,
  KM_ELEMENT_TYPE_I128 = 14,
  KM_ELEMENT_TYPE_U128 = 15,
  KM_ELEMENT_TYPE_F16 = 16,
  KM_ELEMENT_TYPE_BF16 = 17,
  KM_ELEMENT_TYPE_F32 = 18,
  KM_ELEMENT_TYPE_F64 = 19,
  KM_ELEMENT_TYPE_F8_E4M3 = 20,
  KM_ELEMENT_TYPE_F8_E5M2 = 21
};
typedef struct km_param_signature {
  uint32_t struct_size;
  km_signature_kind kind;
  km_element_type element;
  uint32_t lanes;              /* 2 to 4: of a vector such as float4; 1; 0 where nothing is known */
  uint32_t is_const;           /* 1: the elements behind the pointer are const */
  uint32_t element_size_bytes; /* of the lanes together; 0: not known */
  uint64_t size_bytes, offset_bytes; /* of the parameter, as in km_param_info */
} km_param_signature;

/* Inputs of km_launch_kernel. Frozen for ever. */
typedef struct km_launch_config {
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t shared_bytes; /* dynamic shared memory per block */
} km_launch_config;
typedef struct km_launch_slice {
  uint32_t parameter; /* its number, from 0 */
  uint32_t reserved;  /* 0 */
  uint64_t slice;     /* the handle's value */
  uint64_t offset_bytes;
} km_launch_slice;

/* The use that a kernel makes of a slice that it is given. */
typedef int32_t km_access;
enum {
  KM_ACCESS_UNKNOWN = 0, /* counts as read and written */
  KM_ACCESS_READ = 1,
  KM_ACCESS_READ_WRITE = 2
};
/* Input of km_launch_kernel_operands. Frozen for ever. */
typedef struct km_launch_operand {
  uint32_t parameter; /* its number, from 0 */
  km_access access;
  uint64_t slice; /* the handle's value */
  uint64_t offset_bytes;
  uint64_t size_bytes; /* what the kernel uses from the offset on; 0: all of the slice */
} km_launch_operand;

/* Rows and layers of a copy: input of km_slice_copy_3d and its kin. A picture has depth 1. Frozen
 * for ever. */
typedef struct km_copy_3d {
  uint64_t width_bytes, height, depth; /* of a row; rows of a layer; layers */
  uint64_t destination_offset_bytes;
  uint64_t destination_pitch_bytes; /* from row to row; 0: width_bytes */
  uint64_t destination_layer_rows;  /* rows from layer to layer; 0: height */
  uint64_t source_offset_bytes, source_pitch_bytes, source_layer_rows;
} km_copy_3d;

typedef int32_t km_tune_check;
enum {
  KM_TUNE_CHECK_INVALID = 0,
  KM_TUNE_CHECK_OFF = 1,
  KM_TUNE_CHECK_EXACT = 2, /* byte by byte */
  KM_TUNE_CHECK_F32 = 3,   /* outputs are f32, and may differ by the tolerance */
  KM_TUNE_CHECK_F64 = 4
};
typedef uint32_t km_tune_buffer_flags;
enum { KM_TUNE_BUFFER_DEFAULT = 0, KM_TUNE_BUFFER_OUTPUT = 1 /* compared by the check */ };
typedef uint32_t km_tune_run_flags;
enum { KM_TUNE_RUN_DEFAULT = 0, KM_TUNE_RUN_AGAIN = 1 /* measure, whatever is remembered */ };
typedef struct km_tune_result {
  uint32_t struct_size;
  km_status status;           /* KM_NOT_READY: not measured; else why it was left out */
  uint64_t median_ns, min_ns; /* of one launch */
  uint32_t sample_count;
  uint32_t reserved;
} km_tune_result;

/* Types of elements. */
typedef int32_t km_data_type;
enum {
  KM_DATA_TYPE_INVALID = 0,
  KM_DATA_TYPE_F32 = 1,
  KM_DATA_TYPE_F64 = 2,
  KM_DATA_TYPE_C32 = 3, /* complex: two f32, the real part first */
  KM_DATA_TYPE_C64 = 4, /* complex: two f64 */
  KM_DATA_TYPE_F16 = 5,
  KM_DATA_TYPE_BF16 = 6
};
typedef int32_t km_blas_layout;
enum { KM_BLAS_LAYOUT_INVALID = 0, KM_BLAS_LAYOUT_ROWS = 1, KM_BLAS_LAYOUT_COLUMNS = 2 };
typedef int32_t km_blas_operation;
enum {
  KM_BLAS_OPERATION_INVALID = 0,
  KM_BLAS_OPERATION_NONE = 1,
  KM_BLAS_OPERATION_TRANSPOSE = 2,
  KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE = 3
};
typedef int32_t km_blas_triangle;
enum { KM_BLAS_TRIANGLE_INVALID = 0, KM_BLAS_TRIANGLE_LOWER = 1, KM_BLAS_TRIANGLE_UPPER = 2 };
typedef int32_t km_blas_diagonal;
enum {
  KM_BLAS_DIAGONAL_INVALID = 0,
  KM_BLAS_DIAGONAL_STORED = 1,
  KM_BLAS_DIAGONAL_UNIT = 2 /* all ones, and not read */
};
typedef int32_t km_blas_side;
enum { KM_BLAS_SIDE_INVALID = 0, KM_BLAS_SIDE_LEFT = 1, KM_BLAS_SIDE_RIGHT = 2 };
/* Inputs of km_blas_...: where a vector or matrix lies. Frozen for ever. */
typedef struct km_blas_vector {
  uint64_t slice;    /* the handle's value, or 0: `address` counts */
  uint64_t address;  /* a device address; 0 with a slice */
  uint64_t offset;   /* elements from there to the first one in memory */
  int64_t increment; /* elements from one to the next; of a single result it does not count */
} km_blas_vector;
typedef struct km_blas_matrix {
  uint64_t slice, address, offset;
  uint64_t leading_dimension; /* elements from line to line: columns or rows; of packed ones, 0 */
  uint64_t stride;            /* elements from one matrix of a batch to the next, else 0 */
} km_blas_matrix;

#if defined(__cplusplus)
#define KM_CHECK_SIZE(type, size) static_assert(sizeof(type) == (size), "layout of " #type)
#elif !defined(SWIG)
#define KM_CHECK_SIZE(type, size) _Static_assert(sizeof(type) == (size), "layout of " #type)
#endif
#if defined(KM_CHECK_SIZE)
KM_CHECK_SIZE(void*, 8);
KM_CHECK_SIZE(km_stream, 8);
KM_CHECK_SIZE(km_build_info, 112);
KM_CHECK_SIZE(km_backend_info, 560);
KM_CHECK_SIZE(km_device_info, 328);
KM_CHECK_SIZE(km_error_record, 1144);
KM_CHECK_SIZE(km_error_count, 24);
KM_CHECK_SIZE(km_slice_info, 40);
KM_CHECK_SIZE(km_device_attribute_info, 128);
KM_CHECK_SIZE(km_auto_candidate, 576);
KM_CHECK_SIZE(km_occupancy, 56);
KM_CHECK_SIZE(km_pool_info, 80);
KM_CHECK_SIZE(km_allocation_info, 240);
KM_CHECK_SIZE(km_memory_profile, 72);
KM_CHECK_SIZE(km_memory_sample, 16);
KM_CHECK_SIZE(km_param_info, 40);
KM_CHECK_SIZE(km_param_signature, 40);
KM_CHECK_SIZE(km_launch_config, 32);
KM_CHECK_SIZE(km_launch_slice, 24);
KM_CHECK_SIZE(km_launch_operand, 32);
KM_CHECK_SIZE(km_graph_node_info, 112);
KM_CHECK_SIZE(km_copy_3d, 72);
KM_CHECK_SIZE(km_profile_row, 208);
KM_CHECK_SIZE(km_tune_result, 32);
KM_CHECK_SIZE(km_blas_vector, 32);
KM_CHECK_SIZE(km_blas_matrix, 40);
#undef KM_CHECK_SIZE
#endif

/* Callbacks run on threads of the library, or on the thread of the call that makes them due, with
 * cancellation disabled, and may not make calls that wait (KM_ERROR_NOT_PERMITTED). No exception
 * may leave them: it is dropped, with a line in the log. A callback that ends its thread
 * (pthread_exit) counts as returned: another thread takes the place of one of the library's, and a
 * thread of the program's ends when the call is complete. Once the process exits (by exit or a
 * return from main) host and release callbacks of contexts that were there are not made any more.
 * `text` of an output callback does not end with a zero. */
typedef void (*km_host_callback)(void* user_data, km_status status);
typedef void (*km_release_callback)(void* user_data);
/* After each candidate of a tuning: `done` of `count`. */
typedef void (*km_tune_callback)(void* user_data, uint32_t done, uint32_t count);
typedef void (*km_output_callback)(void* user_data, const char* text, uint64_t size_bytes);
/* Dynamic shared memory of a block of `block_threads`; called on the thread of the call. */
typedef uint64_t (*km_shared_bytes_callback)(void* user_data, uint32_t block_threads);

/* An allocator of the host program, for km_set_allocator; called on any thread. What `allocate`
 * gives must be aligned to 16 bytes, null means that there is no memory. */
typedef uint32_t km_host_allocation_flags;
enum {
  KM_HOST_ALLOCATION_DEFAULT = 0,
  KM_HOST_ALLOCATION_NEEDED = 1 /* for the code generator or a worker, which cannot go on without */
};
typedef void* (*km_allocate_callback)(void* user_data, uint64_t size_bytes,
                                      km_host_allocation_flags flags);
typedef void (*km_free_callback)(void* user_data, void* pointer);

/* Version and build. */

/** The version of the library in use, which may be newer than this header.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `out_major`, `out_minor` or `out_patch` is
 *   null.
 */
KM_API km_status km_version(uint32_t* out_major, uint32_t* out_minor,
                            uint32_t* out_patch) KM_NOEXCEPT;

/** Version, build id and compiler of the library in use. Set `out_info->struct_size` first.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `out_info` is null or its struct_size is
 *   below 4.
 */
KM_API km_status km_build_info_get(km_build_info* out_info) KM_NOEXCEPT;

/* Errors. */

/** The name of a status as it is spelled in this header, for example "KM_ERROR_NOT_FOUND". The text
 * is static.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `status` is no status of this library or the
 *   out-parameter is null.
 */
KM_API km_status km_status_name(km_status status, const char** out_name) KM_NOEXCEPT;

/** One sentence on what a status means. The text is static.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `status` is no status of this library or the
 *   out-parameter is null.
 */
KM_API km_status km_status_description(km_status status, const char** out_description) KM_NOEXCEPT;

/** One sentence on what to do about a status. The text is static.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `status` is no status of this library or the
 *   out-parameter is null.
 */
KM_API km_status km_status_recovery(km_status status, const char** out_suggestion) KM_NOEXCEPT;

/** The kind of failure that a status is.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `status` is no status of this library or the
 *   out-parameter is null.
 */
KM_API km_status km_status_category(km_status status, km_error_category* out_category) KM_NOEXCEPT;

/** The text of the calling thread's last call that failed: which function, what was wrong with
 * which values, what to do. Empty (size 1) before the first failure. A call that succeeds leaves
 * it as it is, and so do this call and km_last_error_native_code, whatever they return. Works in a
 * forked child.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_BUFFER_TOO_SMALL when the text needs more than `capacity_bytes`;
 *   KM_ERROR_INVALID_ARGUMENT when `buffer` is null and `capacity_bytes` is not 0, or when
 *   `buffer` and `out_size_bytes` are both null.
 */
KM_API km_status km_last_error_message(char* buffer, uint64_t capacity_bytes,
                                       uint64_t* out_size_bytes) KM_NOEXCEPT;

/** The backend's own code of the calling thread's last failure (CUresult, errno ...); 0 where there
 * is none. CUDA: the CUresult itself.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `out_code` is null.
 */
KM_API km_status km_last_error_native_code(int64_t* out_code) KM_NOEXCEPT;

/** The status of the calling thread's last call that failed, KM_SUCCESS where there is none. Works
 * in a forked child, and so does km_last_error_take. CUDA runtime: cudaPeekAtLastError.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `out_status` is null.
 */
KM_API km_status km_last_error_status(km_status* out_status) KM_NOEXCEPT;

/** Like km_last_error_status, and forgets the thread's error with its text and code. That of a
 * context stays: see km_context_take_error. CUDA runtime: cudaGetLastError.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `out_status` is null.
 */
KM_API km_status km_last_error_take(km_status* out_status) KM_NOEXCEPT;

/** The status for a result of the CUDA driver (CUresult). The mapping never changes; it covers all
 * results of CUDA 13.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when CUDA has no such result or `out_status` is
 *   null.
 */
KM_API km_status km_status_from_cuda(int32_t cuda_result, km_status* out_status) KM_NOEXCEPT;

/** The result that the CUDA driver gives (CUresult) where this library gives `status`. The mapping
 * never changes.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `status` is no status of this library or
 *   `out_cuda_result` is null.
 */
KM_API km_status km_status_to_cuda(km_status status, int32_t* out_cuda_result) KM_NOEXCEPT;

/** The name of a result of the CUDA driver, for example "CUDA_ERROR_INVALID_VALUE". The text is
 * static. CUDA: cuGetErrorName.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when CUDA has no such result or `out_name` is null.
 */
KM_API km_status km_cuda_result_name(int32_t cuda_result, const char** out_name) KM_NOEXCEPT;

/* Backends and devices. */

/** How many backends this build knows, usable here or not.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `out_count` is null.
 */
KM_API km_status km_backend_count(uint32_t* out_count) KM_NOEXCEPT;

/** A backend's name, its number of devices, and why it is not usable if it is not. Set
 * `out_info->struct_size` first. Loads the backend on first use.
 * Blocking: no, but loading a backend takes milliseconds.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `index` is not below km_backend_count,
 *   `out_info` is null or its struct_size is below 4.
 */
KM_API km_status km_backend_info_get(uint32_t index, km_backend_info* out_info) KM_NOEXCEPT;

/** Devices of the backend of this name; with null, those of all backends that are usable here.
 * CUDA: cuDeviceGetCount.
 * Blocking: no, but loading a backend takes milliseconds.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `out_count` is null;
 *   KM_ERROR_UNSUPPORTED_BACKEND when `backend` is "vulkan", "metal", "webgpu", "opengl",
 *   "opengles" or "webgl2", with what would have it; KM_ERROR_BACKEND_UNAVAILABLE when there is no
 *   such backend or it does not work here, as the message says; KM_ERROR_BUILD_MISMATCH when the
 *   backend's plugin comes from another build.
 */
KM_API km_status km_device_count(const char* backend, uint32_t* out_count) KM_NOEXCEPT;

/** Opens a device by its URI: "cpu" or "cpu:0", "cpu:1" ..., or "auto": the device that KM_DEVICE
 * names, else the first CUDA device that works, else the CPU; the log (KM_LOG=info) says which and
 * why. The handle is the caller's, to be given to km_device_destroy. CUDA: cuDeviceGet.
 * Blocking: no, but loading a backend takes milliseconds.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `uri` is null or no URI of this form, or
 *   `out_device` is null; KM_ERROR_UNSUPPORTED_BACKEND when the URI names the backend "vulkan",
 *   "metal", "webgpu", "opengl", "opengles" or "webgl2", with what would have it;
 *   KM_ERROR_BACKEND_UNAVAILABLE when there is no such backend or it does not work here, as the
 *   message says; KM_ERROR_BUILD_MISMATCH when the backend's plugin comes from another build;
 *   KM_ERROR_NO_DEVICE when the backend has no device of this number.
 */
KM_API km_status km_device_open(const char* uri, km_device* out_device) KM_NOEXCEPT;

/** Drops the caller's handle. Contexts of the device keep it open. Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `device` is neither null nor a live device.
 */
KM_API km_status km_device_destroy(km_device device) KM_NOEXCEPT;

/** The device's name, kind and limits. Set `out_info->struct_size` first.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `device` is not a live device;
 *   KM_ERROR_INVALID_ARGUMENT when `out_info` is null or its struct_size is below 4.
 */
KM_API km_status km_device_info_get(km_device device, km_device_info* out_info) KM_NOEXCEPT;

/** One property of a device as a number. CUDA: cuDeviceGetAttribute.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `device` is not a live device;
 *   KM_ERROR_INVALID_ARGUMENT when `attribute` is no device attribute or `out_value` is null;
 *   KM_ERROR_NOT_SUPPORTED when the device cannot tell.
 */
KM_API km_status km_device_attribute_get(km_device device, km_device_attribute attribute,
                                         int64_t* out_value) KM_NOEXCEPT;

/** How many device attributes there are, those of CUDA included.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `out_count` is null.
 */
KM_API km_status km_device_attribute_count(uint32_t* out_count) KM_NOEXCEPT;

/** Name, unit and CUDA's number of the attribute at `index`, from 0: those of this library first,
 * then CUDA's by their number. Set `out_info->struct_size` first.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `index` is not below
 *   km_device_attribute_count, `out_info` is null or its struct_size is below 4.
 */
KM_API km_status km_device_attribute_info_get(uint32_t index,
                                              km_device_attribute_info* out_info) KM_NOEXCEPT;

/** How many backends "auto" considers.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `out_count` is null.
 */
KM_API km_status km_auto_candidate_count(uint32_t* out_count) KM_NOEXCEPT;

/** One candidate of "auto", here and now, without opening anything for good: counted from 0, in the
 * order in which km_device_open tries them, with the reason for its being chosen, refused or not
 * tried. If KM_DEVICE names a device, that is the only one tried. Set `out_candidate->struct_size`
 * first.
 * Blocking: no, but loading a backend takes milliseconds.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `index` is not below km_auto_candidate_count,
 *   `out_candidate` is null or its struct_size is below 4.
 */
KM_API km_status km_auto_candidate_get(uint32_t index,
                                       km_auto_candidate* out_candidate) KM_NOEXCEPT;

/* Contexts. */

/** Opens a context on a device; a device can have several. The handle is the caller's, to be given
 * to km_context_destroy. CUDA: the primary context of the device.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `device` is not a live device;
 *   KM_ERROR_INVALID_ARGUMENT when `out_context` is null; KM_ERROR_NOT_SUPPORTED when the backend
 *   runs nothing; KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has no room for a context.
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
 * order is kept, and what is left to the caller, is in docs/guide/ordering.md. The handle is the
 * caller's, to be given to km_context_destroy. CUDA: the primary context of the device, with
 * cuEventRecord and cuStreamWaitEvent between the uses.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `device` is not a live device;
 *   KM_ERROR_INVALID_ARGUMENT when `out_context` is null or `flags` has unknown bits;
 *   KM_ERROR_NOT_SUPPORTED when the backend runs nothing or cannot order uses;
 *   KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has no room for a context.
 */
KM_API km_status km_context_create_with_flags(km_device device, km_context_flags flags,
                                              km_context* out_context) KM_NOEXCEPT;

/** The flags that the context was opened with. CUDA: cuCtxGetFlags.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_flags` is null.
 */
KM_API km_status km_context_flags_get(km_context context, km_context_flags* out_flags) KM_NOEXCEPT;

/** Drops the caller's handle. Streams, slices, modules and all other children keep the context
 * alive; queued work goes on. Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is neither null nor a live context.
 */
KM_API km_status km_context_destroy(km_context context) KM_NOEXCEPT;

/** The device of a context, as a new handle that is the caller's to destroy.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_device` is null.
 */
KM_API km_status km_context_device(km_context context, km_device* out_device) KM_NOEXCEPT;

/** The context's default stream, the same for every call until a reset, as a new handle that is the
 * caller's to destroy. It is a stream like any other and does not wait for others.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_stream` is null; the sticky error of the context when a
 *   kernel failed.
 */
KM_API km_status km_context_default_stream(km_context context, km_stream* out_stream) KM_NOEXCEPT;

/** Waits until the work of all streams of the context is done, and writes what kernels printed to
 * the output. CUDA: cuCtxSynchronize.
 * Blocking: until all queued work is done.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_NOT_PERMITTED when called inside a callback of this library; the sticky error of the
 *   context when a kernel failed.
 */
KM_API km_status km_context_synchronize(km_context context) KM_RUNS_CALLBACKS;

/** The device's memory, in bytes: what can still be allocated now, and all of it. CUDA:
 * cuMemGetInfo.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_free_bytes` or `out_total_bytes` is null.
 */
KM_API km_status km_context_memory_info(km_context context, uint64_t* out_free_bytes,
                                        uint64_t* out_total_bytes) KM_NOEXCEPT;

/** Stops running kernels, drops queued work (host callbacks get its status) and clears the sticky
 * error. Every handle made from the context before is lost: it gives KM_ERROR_CONTEXT_LOST and is
 * to be destroyed, while its host-visible memory stays mapped until then. The context itself can
 * be used on. CUDA: cuDevicePrimaryCtxReset.
 * Blocking: until running kernels have stopped.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_NOT_PERMITTED when called inside a callback of this library; KM_ERROR_PROCESS_LOST
 *   when the device cannot recover within this process.
 */
KM_API km_status km_context_reset(km_context context) KM_RUNS_CALLBACKS;

/** A limit of the context. CUDA: cuCtxGetLimit.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `limit` is no limit or `out_value` is null;
 *   KM_ERROR_NOT_SUPPORTED when the device has no such limit.
 */
KM_API km_status km_context_limit_get(km_context context, km_context_limit limit,
                                      uint64_t* out_value) KM_NOEXCEPT;

/** Sets a limit of the context, for work that is queued afterwards. The device may have more than
 * what is asked for; km_context_limit_get tells. It stays when the context is reset. CUDA:
 * cuCtxSetLimit.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `limit` is no limit; KM_ERROR_NOT_SUPPORTED when the device has
 *   no such limit, or cannot have that much.
 */
KM_API km_status km_context_limit_set(km_context context, km_context_limit limit,
                                      uint64_t value) KM_NOEXCEPT;

/** The context's error: the sticky one of a failed kernel, else that of the last call on the
 * context that failed, else KM_SUCCESS. CUDA runtime: cudaPeekAtLastError.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_status` is null.
 */
KM_API km_status km_context_error(km_context context, km_status* out_status) KM_NOEXCEPT;

/** The text of the error that km_context_error gives; empty (size 1) where there is none. The same
 * on every thread.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_BUFFER_TOO_SMALL when the text needs more than `capacity_bytes`;
 *   KM_ERROR_INVALID_ARGUMENT when `buffer` is null and `capacity_bytes` is not 0, or when
 *   `buffer` and `out_size_bytes` are both null.
 */
KM_API km_status km_context_error_message(km_context context, char* buffer, uint64_t capacity_bytes,
                                          uint64_t* out_size_bytes) KM_NOEXCEPT;

/** Like km_context_error, and forgets the error unless it is sticky. CUDA runtime:
 * cudaGetLastError.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_status` is null.
 */
KM_API km_status km_context_take_error(km_context context, km_status* out_status) KM_NOEXCEPT;

/** The backend's own code of the error that km_context_error gives (CUresult, errno ...); 0 where
 * there is none.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_code` is null.
 */
KM_API km_status km_context_error_native_code(km_context context, int64_t* out_code) KM_NOEXCEPT;

/** The latest failures of calls on the context and its children, the newest first, as many as there
 * is room for; `*out_count` is how many there are, at most KM_CONTEXT_ERROR_CAPACITY: then the
 * oldest are forgotten. A failure of the same call for the same reason as the one before it is
 * counted in that one's record. A reset keeps them. Calls without a live handle belong to no
 * context. Set the struct_size of the first structure, which holds for all. Null for `out_records`
 * and 0 for `capacity` only count.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_count` is null, `out_records` is null and `capacity` not 0,
 *   or the struct_size is below 4.
 */
KM_API km_status km_context_error_history(km_context context, uint64_t capacity,
                                          km_error_record* out_records,
                                          uint64_t* out_count) KM_NOEXCEPT;

/** Counts for each status that occurred, in the order of their values, up to `capacity` of them;
 * `*out_count` is the number of such statuses. All failures count, also those that
 * km_context_error_history has forgotten. Null for `out_counts` and 0 for `capacity` only count.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_count` is null, or `out_counts` is null and `capacity` not
 *   0.
 */
KM_API km_status km_context_error_counts(km_context context, uint64_t capacity,
                                         km_error_count* out_counts,
                                         uint64_t* out_count) KM_NOEXCEPT;

/** Forgets the history of failures and their counts. The context's error stays.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context.
 */
KM_API km_status km_context_clear_error_history(km_context context) KM_NOEXCEPT;

/** The allocation of this context that holds a device address, as a new slice over all of it (the
 * caller's to destroy), and how far into it the address lies. Lock-free. CUDA:
 * cuMemGetAddressRange.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_slice` or `out_offset_bytes` is null; KM_ERROR_NOT_FOUND
 *   when no live allocation of the context holds `address`.
 */
KM_API km_status km_context_find_slice(km_context context, uint64_t address, km_slice* out_slice,
                                       uint64_t* out_offset_bytes) KM_NOEXCEPT;

/** Has what kernels print, and the lines of failed assertions, given to `callback`, on the thread
 * that synchronises, one call at a time; null means standard output and standard error, as at the
 * start. `user_data` must stay valid until another callback is set or the context is gone.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_NOT_SUPPORTED when the backend has no such thing.
 */
KM_API km_status km_context_set_output(km_context context, km_output_callback callback,
                                       void* user_data) KM_NOEXCEPT;

/* Streams. */

/** A new stream: an ordered queue of work that runs concurrently with other streams. `priority` is
 * 0 or lies between KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST and _LEAST; lower numbers go
 * first: they decide which work starts next, and interrupt nothing. The handle is the caller's, to
 * be given to km_stream_destroy. CUDA: cuStreamCreateWithPriority.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `flags` has unknown bits, `priority` lies outside the device's
 *   range, or `out_stream` is null; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_stream_create(km_context context, km_stream_flags flags, int32_t priority,
                                  km_stream* out_stream) KM_NOEXCEPT;

/** Drops the caller's handle. Queued work goes on to its end. Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is neither null nor a live stream.
 */
KM_API km_status km_stream_destroy(km_stream stream) KM_NOEXCEPT;

/** The context of a stream, as a new handle that is the caller's to destroy.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_context` is null.
 */
KM_API km_status km_stream_context(km_stream stream, km_context* out_context) KM_NOEXCEPT;

/** The priority that the stream was created with.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_priority` is null.
 */
KM_API km_status km_stream_priority(km_stream stream, int32_t* out_priority) KM_NOEXCEPT;

/** Waits until the work queued in the stream so far is done, and writes what its kernels printed to
 * the output. CUDA: cuStreamSynchronize.
 * Blocking: until the stream's work is done.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_NOT_PERMITTED when called inside a callback of this library; the sticky error of the
 *   context when a kernel failed.
 */
KM_API km_status km_stream_synchronize(km_stream stream) KM_RUNS_CALLBACKS;

/** km_stream_synchronize with a time limit in nanoseconds; UINT64_MAX: none, 0: only asks.
 * Blocking: for at most `timeout_ns`.
 * Threads: any.
 * Status: KM_SUCCESS; KM_TIMEOUT when the limit passed first; the work goes on;
 *   KM_ERROR_INVALID_HANDLE when `stream` is not a live stream; KM_ERROR_CONTEXT_LOST when the
 *   context of `stream` was reset after its creation; KM_ERROR_NOT_PERMITTED when called inside a
 *   callback of this library and `timeout_ns` is not 0; the sticky error of the context when a
 *   kernel failed.
 */
KM_API km_status km_stream_synchronize_timeout(km_stream stream,
                                               uint64_t timeout_ns) KM_RUNS_CALLBACKS;

/** Asks whether the work queued in the stream so far is done. CUDA: cuStreamQuery.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_NOT_READY when work is left; KM_ERROR_INVALID_HANDLE when `stream` is not
 *   a live stream; KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its
 *   creation; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_stream_query(km_stream stream) KM_NOEXCEPT;

/** Work queued in the stream from now on waits for the work that the event marks; for one that was
 * never recorded, it does not wait. The event may be of another context, also of another device of
 * the same backend; when its work fails there, the wait is over all the same. CUDA:
 * cuStreamWaitEvent.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `event` not a
 *   live event; KM_ERROR_CONTEXT_LOST when the context of `stream` or `event` was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to devices of different backends;
 *   the sticky error of the stream's context when a kernel failed.
 */
KM_API km_status km_stream_wait_event(km_stream stream, km_event event) KM_NOEXCEPT;

/** Writes a number of 4 or 8 bytes to a slice, once all work queued before is done. What that has
 * written can be seen by whoever sees the number. Captured, it becomes a node of the graph. CUDA:
 * cuStreamWriteValue32, cuStreamWriteValue64.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `slice` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of `stream` or `slice` was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when they belong to different contexts;
 *   KM_ERROR_INVALID_ARGUMENT when `value_size_bytes` is neither 4 nor 8, `value` needs more, or
 *   the address is no multiple of it; KM_ERROR_OUT_OF_BOUNDS when the number reaches beyond the
 *   slice; KM_ERROR_NOT_PERMITTED when the slice is a file mapped read-only;
 *   KM_ERROR_NOT_SUPPORTED when the device cannot do it; the sticky error of the context when a
 *   kernel failed.
 */
KM_API km_status km_stream_write_value(km_stream stream, km_slice slice, uint64_t offset_bytes,
                                       uint64_t value, uint32_t value_size_bytes) KM_NOEXCEPT;

/** Work queued in the stream from now on waits until a number of 4 or 8 bytes in a slice meets the
 * condition with `value`: until the host, another stream or a kernel has written it. Other streams
 * go on. A wait that nobody ends keeps the stream, and km_stream_synchronize, for ever. Captured,
 * it becomes a node of the graph. CUDA: cuStreamWaitValue32, cuStreamWaitValue64.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `slice` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of `stream` or `slice` was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when they belong to different contexts;
 *   KM_ERROR_INVALID_ARGUMENT when `condition` is no condition, `value_size_bytes` is neither 4 nor
 *   8, `value` needs more, or the address is no multiple of it; KM_ERROR_OUT_OF_BOUNDS when the
 *   number reaches beyond the slice; KM_ERROR_NOT_SUPPORTED when the device cannot do it; the
 * sticky error of the context when a kernel failed.
 */
KM_API km_status km_stream_wait_value(km_stream stream, km_slice slice, uint64_t offset_bytes,
                                      km_wait_condition condition, uint64_t value,
                                      uint32_t value_size_bytes) KM_NOEXCEPT;

/** Has `callback` called once all work queued in the stream so far is done, with KM_SUCCESS or the
 * error of the context, on a thread of the library. It is called exactly once when this call
 * succeeds (also after errors and resets), and never otherwise. Work queued later waits for it.
 * Inside it, calls that may wait give KM_ERROR_NOT_PERMITTED. `user_data` must stay valid until
 * then. CUDA: cuLaunchHostFunc.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `callback` is null; the sticky error of the context when a
 *   kernel failed.
 */
KM_API km_status km_stream_add_callback(km_stream stream, km_host_callback callback,
                                        void* user_data) KM_NOEXCEPT;

/* Captures of streams. */

/** Begins to capture a stream: until km_stream_end_capture, what is queued in it becomes nodes of a
 * graph and does not run. Another stream that waits for an event recorded in it joins the capture,
 * and so on; it has to be waited for in turn before the end. Waiting for the stream or for the
 * context, asking whether they are done, stream-ordered allocation, events recorded outside, and
 * events of another capture cannot be captured: they return KM_ERROR_CAPTURE_UNSUPPORTED and
 * invalidate the capture. The same holds for queries of, and waits of the host for, an event
 * recorded in a capture. What fails because of its arguments adds nothing and changes nothing.
 * Copies from and to page-locked and other host memory alike read and write it whenever the graph
 * runs, also when it is not page-locked. A capture belongs to the stream and not to a thread.
 * docs/guide/graphs.md has the table of CUDA's results, which km_last_error_native_code gives.
 * CUDA: cuStreamBeginCapture.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_NOT_PERMITTED when the stream is being captured already; the sticky error of the
 *   context when a kernel failed.
 */
KM_API km_status km_stream_begin_capture(km_stream stream) KM_NOEXCEPT;

/** Ends the capture of a stream, and of all that joined it, and gives the graph, which is the
 * caller's to destroy. CUDA: cuStreamEndCapture.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_graph` is null; KM_ERROR_NOT_PERMITTED when the stream is
 *   not being captured, or when it only joined the capture of another, which goes on;
 *   KM_ERROR_CAPTURE_INVALIDATED when a call before has invalidated the capture, which is over now;
 *   KM_ERROR_CAPTURE_UNJOINED when the stream does not wait for the work of another stream that
 *   joined; the capture is over, and there is no graph.
 */
KM_API km_status km_stream_end_capture(km_stream stream, km_graph* out_graph) KM_NOEXCEPT;

/** Tells if the stream is being captured. CUDA: cuStreamGetCaptureInfo.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_status` is null.
 */
KM_API km_status km_stream_capture_status(km_stream stream,
                                          km_capture_status* out_status) KM_NOEXCEPT;

/* Events. */

/** A new event, to mark a point in a stream: KM_EVENT_DEFAULT takes the time there,
 * KM_EVENT_DISABLE_TIMING does not. The handle is the caller's, to be given to km_event_destroy.
 * CUDA: cuEventCreate.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `flags` has unknown bits or `out_event` is null; the sticky
 *   error of the context when a kernel failed.
 */
KM_API km_status km_event_create(km_context context, km_event_flags flags,
                                 km_event* out_event) KM_NOEXCEPT;

/** Drops the caller's handle. Streams that wait for it go on waiting. Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `event` is neither null nor a live event.
 */
KM_API km_status km_event_destroy(km_event event) KM_NOEXCEPT;

/** The context of an event, as a new handle that is the caller's to destroy.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `event` is not a live event;
 *   KM_ERROR_CONTEXT_LOST when the context of `event` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_context` is null.
 */
KM_API km_status km_event_context(km_event event, km_context* out_context) KM_NOEXCEPT;

/** Marks the end of the work queued in the stream so far, in place of what the event marked before.
 * CUDA: cuEventRecord.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `event` is not a live event, or `stream` not a
 *   live stream; KM_ERROR_CONTEXT_LOST when the context of `event` or `stream` was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts; the sticky
 *   error of the context when a kernel failed.
 */
KM_API km_status km_event_record(km_event event, km_stream stream) KM_NOEXCEPT;

/** Asks whether the work that the event marks is done; so it is for one never recorded. CUDA:
 * cuEventQuery.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_NOT_READY when work is left; KM_ERROR_INVALID_HANDLE when `event` is not
 *   a live event; KM_ERROR_CONTEXT_LOST when the context of `event` was reset after its creation;
 *   the sticky error of the context when a kernel failed.
 */
KM_API km_status km_event_query(km_event event) KM_NOEXCEPT;

/** Waits until the work that the event marks is done; for one never recorded, it returns at once.
 * CUDA: cuEventSynchronize.
 * Blocking: until that work is done.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `event` is not a live event;
 *   KM_ERROR_CONTEXT_LOST when the context of `event` was reset after its creation;
 *   KM_ERROR_NOT_PERMITTED when called inside a callback of this library; the sticky error of the
 *   context when a kernel failed.
 */
KM_API km_status km_event_synchronize(km_event event) KM_RUNS_CALLBACKS;

/** km_event_synchronize with a time limit in nanoseconds; UINT64_MAX: none, 0: only asks.
 * Blocking: for at most `timeout_ns`.
 * Threads: any.
 * Status: KM_SUCCESS; KM_TIMEOUT when the limit passed first; the work goes on;
 *   KM_ERROR_INVALID_HANDLE when `event` is not a live event; KM_ERROR_CONTEXT_LOST when the
 *   context of `event` was reset after its creation; KM_ERROR_NOT_PERMITTED when called inside a
 *   callback of this library and `timeout_ns` is not 0; the sticky error of the context when a
 *   kernel failed.
 */
KM_API km_status km_event_synchronize_timeout(km_event event,
                                              uint64_t timeout_ns) KM_RUNS_CALLBACKS;

/** Nanoseconds from the mark of `start` to that of `end`; negative when `end` came first. CUDA:
 * cuEventElapsedTime, which gives milliseconds.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_NOT_READY when one of the marks has not been reached;
 *   KM_ERROR_INVALID_HANDLE when `start` or `end` is not a live event; KM_ERROR_CONTEXT_LOST when
 *   the context of `start` or `end` was reset after its creation; KM_ERROR_CONTEXT_MISMATCH when
 *   the objects belong to different contexts; KM_ERROR_INVALID_ARGUMENT when `out_elapsed_ns` is
 *   null, or one of the events was never recorded or takes no times; the sticky error of the
 *   context when a kernel failed.
 */
KM_API km_status km_event_elapsed_ns(km_event start, km_event end,
                                     int64_t* out_elapsed_ns) KM_NOEXCEPT;

/* Host memory. */

/** Page-locked host memory, from and to which copies are asynchronous. The handle is the caller's,
 * to be given to km_host_memory_destroy; the memory stays until the last use that the library
 * knows of is over. CUDA: cuMemHostAlloc.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `size_bytes` is 0, `flags` has unknown bits, or `out_memory` is
 *   null; KM_ERROR_OUT_OF_DEVICE_MEMORY when that much cannot be page-locked; the sticky error of
 *   the context when a kernel failed.
 */
KM_API km_status km_host_memory_create(km_context context, uint64_t size_bytes,
                                       km_host_memory_flags flags,
                                       km_host_memory* out_memory) KM_NOEXCEPT;

/** Makes the caller's own memory page-locked. It must stay mapped until the handle is destroyed and
 * work that uses it is done. CUDA: cuMemHostRegister.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `pointer` or `out_memory` is null, `size_bytes` is 0, the range
 *   is not mapped, overlaps one that is registered or leaves the address space, or `flags` has
 *   unknown bits; KM_ERROR_NOT_SUPPORTED when the backend has no such thing; the sticky error of
 *   the context when a kernel failed.
 */
KM_API km_status km_host_memory_register(km_context context, void* pointer, uint64_t size_bytes,
                                         km_host_memory_flags flags,
                                         km_host_memory* out_memory) KM_NOEXCEPT;

/** Drops the caller's handle. Memory that the library allocated is freed after its last use;
 * registered memory is let go then. Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `memory` is neither null nor a live host
 *   memory.
 */
KM_API km_status km_host_memory_destroy(km_host_memory memory) KM_NOEXCEPT;

/** The first byte of the memory, for the host. Valid until the handle is destroyed.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `memory` is not a live host memory;
 *   KM_ERROR_CONTEXT_LOST when the context of `memory` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_pointer` is null.
 */
KM_API km_status km_host_memory_pointer(km_host_memory memory, void** out_pointer) KM_NOEXCEPT;

/** The size of the memory.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `memory` is not a live host memory;
 *   KM_ERROR_CONTEXT_LOST when the context of `memory` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_size_bytes` is null.
 */
KM_API km_status km_host_memory_size_bytes(km_host_memory memory,
                                           uint64_t* out_size_bytes) KM_NOEXCEPT;

/* Slices and views. */

/** Device memory for `element_count` elements, usable at once on every stream; with KM_SLICE_ZEROED
 * filled with zeros, else with anything. With KM_SLICE_MANAGED km_slice_host_pointer gives its
 * address for the host too, on every device that has such memory; on NVIDIA GPUs pages move to
 * where they are used, the host may touch them while kernels run only where the attribute
 * KM_DEVICE_ATTRIBUTE_CUDA + 89 (concurrent managed access) is 1, and they go with a reset. No
 * elements give an empty slice with address 0. The handle is the caller's, to be given to
 * km_slice_destroy. CUDA: cuMemAlloc, cuMemAllocManaged.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `element_size_bytes` is 0, the size does not fit 64 bits,
 *   `flags` has unknown bits, or `out_slice` is null; KM_ERROR_OUT_OF_DEVICE_MEMORY when the
 *   device has not that much memory left; KM_ERROR_NOT_SUPPORTED when the device has no managed
 *   memory; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_slice_create(km_context context, uint64_t element_count,
                                 uint64_t element_size_bytes, km_slice_flags flags,
                                 km_slice* out_slice) KM_NOEXCEPT;

/** km_slice_create in the order of a stream: usable by work that is queued there afterwards. CUDA:
 * cuMemAllocAsync.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `element_size_bytes` is 0, the size does not fit 64 bits,
 *   `flags` has unknown bits, or `out_slice` is null; KM_ERROR_OUT_OF_DEVICE_MEMORY when the
 *   device has not that much memory left; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_slice_create_on_stream(km_stream stream, uint64_t element_count,
                                           uint64_t element_size_bytes, km_slice_flags flags,
                                           km_slice* out_slice) KM_NOEXCEPT;

/** The caller's own memory as a slice, without a copy where the device can reach host memory. It
 * must stay valid until `release` is called (null: nothing is), which happens once, when neither
 * handles nor work use it any more, perhaps on a thread of the library; not when this call fails.
 * CUDA: cuMemHostRegister with CU_MEMHOSTREGISTER_DEVICEMAP.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `pointer` or `out_slice` is null, `element_size_bytes` or the
 *   size is 0, or the range overlaps device memory that is in use or leaves the address space;
 *   KM_ERROR_NOT_SUPPORTED when the device cannot use host memory; the sticky error of the context
 *   when a kernel failed.
 */
KM_API km_status km_slice_from_host(km_context context, void* pointer, uint64_t element_count,
                                    uint64_t element_size_bytes, km_release_callback release,
                                    void* user_data, km_slice* out_slice) KM_NOEXCEPT;

/** A part of a slice, as a slice of its own that shares the memory and keeps it alive. The handle
 * is the caller's, to be given to km_slice_destroy.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `slice` is not a live slice;
 *   KM_ERROR_CONTEXT_LOST when the context of `slice` was reset after its creation;
 *   KM_ERROR_OUT_OF_BOUNDS when the elements do not lie inside the slice;
 *   KM_ERROR_INVALID_ARGUMENT when `out_view` is null.
 */
KM_API km_status km_slice_view(km_slice slice, uint64_t first_element, uint64_t element_count,
                               km_slice* out_view) KM_NOEXCEPT;

/** Drops the caller's handle. The memory is freed when no view is left and the last use that the
 * library knows of is over; uses by raw address in kernel arguments are the caller's business.
 * Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `slice` is neither null nor a live slice.
 */
KM_API km_status km_slice_destroy(km_slice slice) KM_NOEXCEPT;

/** Like km_slice_destroy, and the memory is freed no sooner than the work queued in the stream so
 * far is done: also for uses that the library does not know of. Null for `slice` is fine. CUDA:
 * cuMemFreeAsync.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `slice` is neither null nor a live slice, or
 *   `stream` is not a live stream; KM_ERROR_CONTEXT_LOST when the context of `slice` or `stream`
 *   was reset after its creation (km_slice_destroy still works); KM_ERROR_CONTEXT_MISMATCH when
 *   the objects belong to different contexts.
 */
KM_API km_status km_slice_destroy_on_stream(km_slice slice, km_stream stream) KM_NOEXCEPT;

/** Address, size and element size of a slice. Set `out_info->struct_size` first.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `slice` is not a live slice;
 *   KM_ERROR_CONTEXT_LOST when the context of `slice` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_info` is null or its struct_size is below 4.
 */
KM_API km_status km_slice_info_get(km_slice slice, km_slice_info* out_info) KM_NOEXCEPT;

/** Says of which type the elements of a slice are; its later views have the type, too. From then on
 * a launch that gives the slice to a kernel whose parameter is known to have another type is
 * KM_ERROR_INVALID_LAUNCH. `lanes` is 2 to 4 for a vector such as float4, and 1 otherwise; `name`
 * is the C++ name of a KM_ELEMENT_TYPE_NAMED ("ns::Point"; null: any named type fits) and else
 * null. KM_ELEMENT_TYPE_UNKNOWN with 0 lanes ends the check. A slice has no type until this call.
 * Blocking: no.
 * Threads: any, but not while another thread uses the slice in a launch.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `slice` is not a live slice;
 *   KM_ERROR_CONTEXT_LOST when the context of `slice` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when there is no such type, it has no vectors of so many lanes, or
 *   `name` is given with a type that is not KM_ELEMENT_TYPE_NAMED or has more than 4095 bytes.
 */
KM_API km_status km_slice_set_element_type(km_slice slice, km_element_type type, uint32_t lanes,
                                           const char* name) KM_NOEXCEPT;

/** The device address of the first element; 0 for an empty slice.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `slice` is not a live slice;
 *   KM_ERROR_CONTEXT_LOST when the context of `slice` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_address` is null.
 */
KM_API km_status km_slice_address(km_slice slice, uint64_t* out_address) KM_NOEXCEPT;

/** The memory itself for the host, where device memory is host memory; null for an empty slice.
 * Valid until the slice and its views are destroyed. Reading what a stream is still writing is a
 * race: synchronise first.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `slice` is not a live slice;
 *   KM_ERROR_CONTEXT_LOST when the context of `slice` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_pointer` is null; KM_ERROR_NOT_SUPPORTED when the host
 *   cannot reach the device's memory.
 */
KM_API km_status km_slice_host_pointer(km_slice slice, void** out_pointer) KM_NOEXCEPT;

/** Copies from the host into a slice, in stream order. Page-locked memory (km_host_memory_*) must
 * stay unchanged until the copy is done; any other has been read when the call returns. CUDA:
 * cuMemcpyHtoDAsync.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `destination`
 *   not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after
 *   its creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice; KM_ERROR_INVALID_ARGUMENT
 *   when `source` is null and `size_bytes` is not 0; KM_ERROR_NOT_PERMITTED when called inside a
 *   callback of this library with host memory that is not page-locked; the sticky error of the
 *   context when a kernel failed.
 */
KM_API km_status km_slice_upload(km_stream stream, km_slice destination, uint64_t offset_bytes,
                                 const void* source, uint64_t size_bytes) KM_NOEXCEPT;

/** Copies from a slice to the host, in stream order. Page-locked memory is written later, when the
 * stream gets there; any other has been written when the call returns. CUDA: cuMemcpyDtoHAsync.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `source` not
 *   a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice; KM_ERROR_INVALID_ARGUMENT
 *   when `destination` is null and `size_bytes` is not 0; KM_ERROR_NOT_PERMITTED when called
 *   inside a callback of this library with host memory that is not page-locked; the sticky error
 *   of the context when a kernel failed.
 */
KM_API km_status km_slice_download(km_stream stream, km_slice source, uint64_t offset_bytes,
                                   void* destination, uint64_t size_bytes) KM_NOEXCEPT;

/** Copies between slices of one context, in stream order. CUDA: cuMemcpyDtoDAsync.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `destination`
 *   or `source` not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was
 *   reset after its creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different
 *   contexts; KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside both slices;
 *   KM_ERROR_INVALID_ARGUMENT when source and destination overlap without being the same; the
 *   sticky error of the context when a kernel failed.
 */
KM_API km_status km_slice_copy(km_stream stream, km_slice destination,
                               uint64_t destination_offset_bytes, km_slice source,
                               uint64_t source_offset_bytes, uint64_t size_bytes) KM_NOEXCEPT;

/** Writes a byte `count` times from `offset_bytes` on, in stream order. CUDA: cuMemsetD8Async.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `slice` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice; the sticky error of the
 *   context when a kernel failed.
 */
KM_API km_status km_slice_fill_u8(km_stream stream, km_slice slice, uint64_t offset_bytes,
                                  uint8_t value, uint64_t count) KM_NOEXCEPT;

/** Writes a 16-bit value `count` times from `offset_bytes` on, in stream order. CUDA:
 * cuMemsetD16Async.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `slice` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice; KM_ERROR_INVALID_ARGUMENT
 *   when the first address is not a multiple of 2; the sticky error of the context when a kernel
 *   failed.
 */
KM_API km_status km_slice_fill_u16(km_stream stream, km_slice slice, uint64_t offset_bytes,
                                   uint16_t value, uint64_t count) KM_NOEXCEPT;

/** Writes a 32-bit value `count` times from `offset_bytes` on, in stream order. CUDA:
 * cuMemsetD32Async.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `slice` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice; KM_ERROR_INVALID_ARGUMENT
 *   when the first address is not a multiple of 4; the sticky error of the context when a kernel
 *   failed.
 */
KM_API km_status km_slice_fill_u32(km_stream stream, km_slice slice, uint64_t offset_bytes,
                                   uint32_t value, uint64_t count) KM_NOEXCEPT;

/* Copies and fills by raw device address. */

/** Like km_slice_upload, to a device address.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when `source` is null and `size_bytes` is not 0;
 *   KM_ERROR_NOT_PERMITTED when called inside a callback of this library with host memory that is
 *   not page-locked; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_memory_upload(km_stream stream, uint64_t destination_address,
                                  const void* source, uint64_t size_bytes) KM_NOEXCEPT;

/** Like km_slice_download, from a device address.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when `destination` is null and `size_bytes` is not 0;
 *   KM_ERROR_NOT_PERMITTED when called inside a callback of this library with host memory that is
 *   not page-locked; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_memory_download(km_stream stream, uint64_t source_address, void* destination,
                                    uint64_t size_bytes) KM_NOEXCEPT;

/** Like km_slice_copy, between device addresses.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_OUT_OF_BOUNDS when source or destination do not lie inside one allocation of the
 *   context each; KM_ERROR_INVALID_ARGUMENT when source and destination overlap without being the
 *   same; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_memory_copy(km_stream stream, uint64_t destination_address,
                                uint64_t source_address, uint64_t size_bytes) KM_NOEXCEPT;

/** Writes a byte `count` times from a device address on, in stream order. CUDA: cuMemsetD8Async.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside one allocation of the context; the
 *   sticky error of the context when a kernel failed.
 */
KM_API km_status km_memory_fill_u8(km_stream stream, uint64_t address, uint8_t value,
                                   uint64_t count) KM_NOEXCEPT;

/** Writes a 16-bit value `count` times from a device address on, in stream order. CUDA:
 * cuMemsetD16Async.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when the first address is not a multiple of 2; the sticky error of
 *   the context when a kernel failed.
 */
KM_API km_status km_memory_fill_u16(km_stream stream, uint64_t address, uint16_t value,
                                    uint64_t count) KM_NOEXCEPT;

/** Writes a 32-bit value `count` times from a device address on, in stream order. CUDA:
 * cuMemsetD32Async.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when the first address is not a multiple of 4; the sticky error of
 *   the context when a kernel failed.
 */
KM_API km_status km_memory_fill_u32(km_stream stream, uint64_t address, uint32_t value,
                                    uint64_t count) KM_NOEXCEPT;

/* Memory pools. */

/** A pool of device memory: blocks that are freed are kept and given out again, which costs a small
 * part of what allocating from the device does. A block has the size asked for rounded up by at
 * most an eighth (to multiples of 256 bytes) and serves allocations of that size only. The pool
 * takes at most `limit_bytes` from the device; 0: as much as there is. The handle is the caller's,
 * to be given to km_pool_destroy. CUDA: cuMemPoolCreate.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_pool` is null.
 */
KM_API km_status km_pool_create(km_context context, uint64_t limit_bytes,
                                km_pool* out_pool) KM_NOEXCEPT;

/** Drops the caller's handle. Free blocks go back to the device, those in use when they are freed.
 * Null is fine. CUDA: cuMemPoolDestroy.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `pool` is neither null nor a live pool.
 */
KM_API km_status km_pool_destroy(km_pool pool) KM_NOEXCEPT;

/** A slice out of the pool, usable at once on every stream: only blocks that no work uses any more
 * are taken. It is a slice like any other; its block is free again when the slice, all its views
 * and all that was made with them are gone, so a view keeps a block from being used again. CUDA:
 * cuMemAllocFromPoolAsync and a wait.
 * Blocking: no, but KM_SLICE_ZEROED may wait where the host cannot reach the device's memory.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `pool` is not a live pool;
 *   KM_ERROR_CONTEXT_LOST when the context of `pool` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `element_size_bytes` is 0, the size does not fit 64 bits,
 *   `flags` has unknown bits, or `out_slice` is null; KM_ERROR_OUT_OF_DEVICE_MEMORY when the limit
 *   of the pool or the memory of the device does not allow it, with the figures;
 *   KM_ERROR_NOT_PERMITTED when called inside a callback of this library with KM_SLICE_ZEROED; the
 *   sticky error of the context when a kernel failed.
 */
KM_API km_status km_pool_allocate(km_pool pool, uint64_t element_count, uint64_t element_size_bytes,
                                  km_slice_flags flags, km_slice* out_slice) KM_NOEXCEPT;

/** km_pool_allocate in the order of a stream: usable by work that is queued there afterwards. A
 * block whose last uses were on this stream is taken at once; one that other streams use, when they
 * are done. Give it back with km_slice_destroy_on_stream. CUDA: cuMemAllocFromPoolAsync.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `pool` is not a live pool, or `stream` not a
 *   live stream; KM_ERROR_CONTEXT_LOST when the context of `pool` or `stream` was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_INVALID_ARGUMENT when `element_size_bytes` is 0, the size does not fit 64 bits,
 *   `flags` has unknown bits, or `out_slice` is null; KM_ERROR_OUT_OF_DEVICE_MEMORY when the limit
 *   of the pool or the memory of the device does not allow it, with the figures; the sticky error
 *   of the context when a kernel failed.
 */
KM_API km_status km_pool_allocate_on_stream(km_pool pool, km_stream stream, uint64_t element_count,
                                            uint64_t element_size_bytes, km_slice_flags flags,
                                            km_slice* out_slice) KM_NOEXCEPT;

/** How much memory the pool keeps: while it has more, free blocks go back to the device when one is
 * freed; those that work still uses, later. UINT64_MAX, as at the start: all of it. CUDA:
 * cuMemPoolSetAttribute with CU_MEMPOOL_ATTR_RELEASE_THRESHOLD.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `pool` is not a live pool;
 *   KM_ERROR_CONTEXT_LOST when the context of `pool` was reset after its creation.
 */
KM_API km_status km_pool_set_release_threshold(km_pool pool, uint64_t threshold_bytes) KM_NOEXCEPT;

/** Gives free blocks that no work uses any more back to the device, the largest first, until the
 * pool has at most `keep_bytes` or none are left. CUDA: cuMemPoolTrimTo.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `pool` is not a live pool;
 *   KM_ERROR_CONTEXT_LOST when the context of `pool` was reset after its creation.
 */
KM_API km_status km_pool_trim(km_pool pool, uint64_t keep_bytes) KM_NOEXCEPT;

/** The figures of a pool. Set `out_info->struct_size` first. CUDA: cuMemPoolGetAttribute.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `pool` is not a live pool;
 *   KM_ERROR_CONTEXT_LOST when the context of `pool` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_info` is null or its struct_size is below 4.
 */
KM_API km_status km_pool_info_get(km_pool pool, km_pool_info* out_info) KM_NOEXCEPT;

/** Has the high-water marks start again from what is used and reserved now. CUDA:
 * cuMemPoolSetAttribute with CU_MEMPOOL_ATTR_USED_MEM_HIGH and CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `pool` is not a live pool;
 *   KM_ERROR_CONTEXT_LOST when the context of `pool` was reset after its creation.
 */
KM_API km_status km_pool_reset_high_water(km_pool pool) KM_NOEXCEPT;

/* Alignment, pitches, several devices. */

/** Like km_slice_create, with an address that is a multiple of `alignment_bytes`.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `alignment_bytes` is no power of two, `element_size_bytes` is 0,
 *   the size does not fit 64 bits, `flags` has unknown bits, or `out_slice` is null;
 *   KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has not that much memory left; the sticky error
 *   of the context when a kernel failed.
 */
KM_API km_status km_slice_create_aligned(km_context context, uint64_t element_count,
                                         uint64_t element_size_bytes, uint64_t alignment_bytes,
                                         km_slice_flags flags, km_slice* out_slice) KM_NOEXCEPT;

/** Device memory for `row_count` rows of `row_bytes`, as a slice of bytes; the rows begin
 * `*out_pitch_bytes` apart, at multiples of 256 bytes. The handle is the caller's, to be given to
 * km_slice_destroy. CUDA: cuMemAllocPitch.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when the size does not fit 64 bits, `flags` has unknown bits, or an
 *   out-parameter is null; KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has not that much memory
 *   left; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_slice_create_pitched(km_context context, uint64_t row_bytes, uint64_t row_count,
                                         km_slice_flags flags, km_slice* out_slice,
                                         uint64_t* out_pitch_bytes) KM_NOEXCEPT;

/** Copies rows from the host into a slice, in stream order: `copy->height` rows of
 * `copy->width_bytes` in each of `copy->depth` layers, at the offsets and distances that `copy`
 * gives for the slice and for the memory at `source`. Otherwise like km_slice_upload. CUDA:
 * cuMemcpy3DAsync, cuMemcpy2DAsync.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `destination`
 *   not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after
 *   its creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice; KM_ERROR_INVALID_ARGUMENT when
 *   `copy` or `source` is null, a pitch is less than `width_bytes` or a distance of layers less
 *   than `height`; KM_ERROR_NOT_PERMITTED when called inside a callback of this library with host
 *   memory that is not page-locked; KM_ERROR_NOT_SUPPORTED when the backend has no such copies; the
 *   sticky error of the context when a kernel failed.
 */
KM_API km_status km_slice_upload_3d(km_stream stream, km_slice destination, const void* source,
                                    const km_copy_3d* copy) KM_NOEXCEPT;

/** Copies rows from a slice to the host, in stream order. Otherwise like km_slice_download and
 * km_slice_upload_3d. CUDA: cuMemcpy3DAsync, cuMemcpy2DAsync.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `source` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice; KM_ERROR_INVALID_ARGUMENT when
 *   `copy` or `destination` is null, a pitch is less than `width_bytes` or a distance of layers
 *   less than `height`; KM_ERROR_NOT_PERMITTED when called inside a callback of this library with
 *   host memory that is not page-locked; KM_ERROR_NOT_SUPPORTED when the backend has no such
 *   copies; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_slice_download_3d(km_stream stream, km_slice source, void* destination,
                                      const km_copy_3d* copy) KM_NOEXCEPT;

/** Copies rows between slices of one context, or within one, in stream order. CUDA:
 * cuMemcpy3DAsync, cuMemcpy2DAsync.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, `destination` or
 *   `source` not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was
 *   reset after its creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different
 *   contexts; KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside its slice;
 *   KM_ERROR_INVALID_ARGUMENT when `copy` is null, a pitch is less than `width_bytes` or a distance
 *   of layers less than `height`, or a row of the source overlaps one of the destination;
 *   KM_ERROR_NOT_SUPPORTED when the backend has no such copies; the sticky error of the context
 *   when a kernel failed.
 */
KM_API km_status km_slice_copy_3d(km_stream stream, km_slice destination, km_slice source,
                                  const km_copy_3d* copy) KM_NOEXCEPT;

/** Writes a value of 1, 2 or 4 bytes `width_count` times to each of `height` rows that begin
 * `pitch_bytes` apart (0: without a gap), from `offset_bytes` on, in stream order. CUDA:
 * cuMemsetD2D8Async, cuMemsetD2D16Async, cuMemsetD2D32Async.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `slice` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice; KM_ERROR_INVALID_ARGUMENT when
 *   `value_size_bytes` is not 1, 2 or 4, the first address is not a multiple of it, or the pitch is
 *   less than a row or not a multiple of it; KM_ERROR_NOT_SUPPORTED when the backend has no such
 *   fills; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_slice_fill_2d(km_stream stream, km_slice slice, uint64_t offset_bytes,
                                  uint64_t pitch_bytes, uint32_t value, uint32_t value_size_bytes,
                                  uint64_t width_count, uint64_t height) KM_NOEXCEPT;

/** Like km_slice_upload_3d, to a device address; offsets count from there.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_OUT_OF_BOUNDS when the rows do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when `copy` or `source` is null, a pitch is less than `width_bytes`
 *   or a distance of layers less than `height`; KM_ERROR_NOT_PERMITTED when called inside a
 *   callback of this library with host memory that is not page-locked; KM_ERROR_NOT_SUPPORTED when
 *   the backend has no such copies; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_memory_upload_3d(km_stream stream, uint64_t destination_address,
                                     const void* source, const km_copy_3d* copy) KM_NOEXCEPT;

/** Like km_slice_download_3d, from a device address.
 * Blocking: when the host side is not page-locked: until it has been read or written; up to 64 KiB
 *   at once, beyond that after waiting for the stream.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_OUT_OF_BOUNDS when the rows do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when `copy` or `destination` is null, a pitch is less than
 *   `width_bytes` or a distance of layers less than `height`; KM_ERROR_NOT_PERMITTED when called
 *   inside a callback of this library with host memory that is not page-locked;
 *   KM_ERROR_NOT_SUPPORTED when the backend has no such copies; the sticky error of the context
 *   when a kernel failed.
 */
KM_API km_status km_memory_download_3d(km_stream stream, uint64_t source_address, void* destination,
                                       const km_copy_3d* copy) KM_NOEXCEPT;

/** Like km_slice_copy_3d, between device addresses.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_OUT_OF_BOUNDS when the rows do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when `copy` is null, a pitch is less than `width_bytes` or a distance
 *   of layers less than `height`, or a row of the source overlaps one of the destination;
 *   KM_ERROR_NOT_SUPPORTED when the backend has no such copies; the sticky error of the context
 *   when a kernel failed.
 */
KM_API km_status km_memory_copy_3d(km_stream stream, uint64_t destination_address,
                                   uint64_t source_address, const km_copy_3d* copy) KM_NOEXCEPT;

/** Like km_slice_fill_2d, from a device address on.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_OUT_OF_BOUNDS when the rows do not lie inside one allocation of the context;
 *   KM_ERROR_INVALID_ARGUMENT when `value_size_bytes` is not 1, 2 or 4, the first address is not a
 *   multiple of it, or the pitch is less than a row or not a multiple of it; KM_ERROR_NOT_SUPPORTED
 *   when the backend has no such fills; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_memory_fill_2d(km_stream stream, uint64_t address, uint64_t pitch_bytes,
                                   uint32_t value, uint32_t value_size_bytes, uint64_t width_count,
                                   uint64_t height) KM_NOEXCEPT;

/** Tells if kernels of `device` can be given memory of `peer`, by km_context_enable_peer_access: 1
 * or 0. A device is no peer of itself. CUDA: cuDeviceCanAccessPeer.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `device` or `peer` is not a live device;
 *   KM_ERROR_INVALID_ARGUMENT when `out_can_access` is null.
 */
KM_API km_status km_device_can_access_peer(km_device device, km_device peer,
                                           uint32_t* out_can_access) KM_NOEXCEPT;

/** Lets kernels of `context` use memory of `peer`: slices of `peer` are taken as arguments of
 * launches. It works in one direction and stays until it is disabled; enabling it twice is fine.
 * Work of the two contexts is ordered by events. CUDA: cuCtxEnablePeerAccess.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` or `peer` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when both are the same; KM_ERROR_NOT_SUPPORTED when the devices
 *   cannot reach each other's memory.
 */
KM_API km_status km_context_enable_peer_access(km_context context, km_context peer) KM_NOEXCEPT;

/** Ends what km_context_enable_peer_access began, for later launches. CUDA: cuCtxDisablePeerAccess.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` or `peer` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when both are the same; KM_ERROR_NOT_SUPPORTED when the devices
 *   cannot reach each other's memory.
 */
KM_API km_status km_context_disable_peer_access(km_context context, km_context peer) KM_NOEXCEPT;

/** Copies between slices that may belong to different contexts and devices of one backend, in the
 * order of `stream`, with or without peer access. Order it after other streams by events. CUDA:
 * cuMemcpyPeerAsync.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `destination`
 *   or `source` not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was
 *   reset after its creation; KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside both slices;
 *   KM_ERROR_INVALID_ARGUMENT when source and destination overlap without being the same;
 *   KM_ERROR_NOT_SUPPORTED when the contexts are of different backends; the sticky error of the
 *   context of `stream` when a kernel failed.
 */
KM_API km_status km_slice_copy_peer(km_stream stream, km_slice destination,
                                    uint64_t destination_offset_bytes, km_slice source,
                                    uint64_t source_offset_bytes, uint64_t size_bytes) KM_NOEXCEPT;

/** km_slice_copy_peer between device addresses of two contexts, which may be the same.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or
 *   `destination_context` or `source_context` not a live context; KM_ERROR_CONTEXT_LOST when the
 *   context of `stream` was reset after its creation; KM_ERROR_OUT_OF_BOUNDS when source or
 *   destination do not lie inside one allocation of their context each; KM_ERROR_INVALID_ARGUMENT
 *   when source and destination overlap without being the same; KM_ERROR_NOT_SUPPORTED when the
 *   contexts are of different backends; the sticky error of the context of `stream` when a kernel
 *   failed.
 */
KM_API km_status km_memory_copy_peer(km_stream stream, km_context destination_context,
                                     uint64_t destination_address, km_context source_context,
                                     uint64_t source_address, uint64_t size_bytes) KM_NOEXCEPT;

/* Mapped files. */

/** A part of a file as a slice, without reading it: pages are read when they are used, so that the
 * file may be larger than memory. KM_MAP_READ_ONLY: kernels that write to it fail with
 * KM_ERROR_ILLEGAL_ADDRESS, calls that would write to it are refused. KM_MAP_PRIVATE: writable, and
 * the file never changes. `element_count` UINT64_MAX: all that there are from `offset_bytes` on. A
 * file that becomes shorter while it is mapped is an error: KM_ERROR_ILLEGAL_ADDRESS of kernels and
 * of copies that are under way, KM_ERROR_IO of copies that the call waits for; the host program's
 * own access raises SIGBUS. The handle is the caller's, to be given to km_slice_destroy. CUDA:
 * cuMemHostRegister with CU_MEMHOSTREGISTER_DEVICEMAP and CU_MEMHOSTREGISTER_READ_ONLY.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `path` or `out_slice` is null, `element_size_bytes` or the part
 *   is 0, the size does not fit 64 bits, or `flags` has unknown bits; KM_ERROR_NOT_FOUND when there
 *   is no such file; KM_ERROR_IO when it cannot be opened or mapped; KM_ERROR_OUT_OF_BOUNDS when
 *   the part reaches beyond the end of the file; KM_ERROR_NOT_SUPPORTED when the device cannot use
 *   host memory; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_slice_map_file(km_context context, const char* path, uint64_t offset_bytes,
                                   uint64_t element_count, uint64_t element_size_bytes,
                                   km_map_flags flags, km_slice* out_slice) KM_NOEXCEPT;

/** A part of a file as host memory, for the host to read and as source of copies; with `size_bytes`
 * UINT64_MAX to its end. It is not page-locked: copies from it behave as from any other memory, and
 * give KM_ERROR_IO when the file has become shorter. The host's own access raises SIGBUS then. The
 * handle is the caller's, to be given to km_host_memory_destroy. CUDA: cuMemHostRegister.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `path` or `out_memory` is null, the part is empty, or `flags`
 *   has unknown bits; KM_ERROR_NOT_FOUND when there is no such file; KM_ERROR_IO when it cannot be
 *   opened or mapped; KM_ERROR_OUT_OF_BOUNDS when the part reaches beyond the end of the file;
 *   KM_ERROR_NOT_SUPPORTED when the device cannot use host memory; the sticky error of the context
 *   when a kernel failed.
 */
KM_API km_status km_host_memory_map_file(km_context context, const char* path,
                                         uint64_t offset_bytes, uint64_t size_bytes,
                                         km_map_flags flags,
                                         km_host_memory* out_memory) KM_NOEXCEPT;

/* Tracking and profiling of memory. */

/** Has allocations of the context tracked from now on, those before are not: KM_TRACKING_ON their
 * size, time and tag, KM_TRACKING_STACKS where they were made, too. What is alive when the caller's
 * last handle of the context goes, or at exit, is then logged as a warning (area "memory"); without
 * tracking, at level info.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `flags` has unknown bits.
 */
KM_API km_status km_context_set_tracking(km_context context, km_tracking_flags flags) KM_NOEXCEPT;

/** A name for the allocation behind a slice, for listings and reports. Copied.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `slice` is not a live slice;
 *   KM_ERROR_CONTEXT_LOST when the context of `slice` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `tag` is null; KM_ERROR_NOT_FOUND when the allocation is not
 *   tracked.
 */
KM_API km_status km_slice_set_tag(km_slice slice, const char* tag) KM_NOEXCEPT;

/** The tracked allocations that are alive, in the order in which they were made: as many as there
 * is room for; `*out_count` is how many there are. Set the struct_size of the first structure,
 * which holds for all. Null for `out_allocations` and 0 for `capacity` only count.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_count` is null, `out_allocations` is null and `capacity`
 *   not 0, or the struct_size is below 4.
 */
KM_API km_status km_context_allocations(km_context context, uint64_t capacity,
                                        km_allocation_info* out_allocations,
                                        uint64_t* out_count) KM_NOEXCEPT;

/** The place where a tracked allocation was made, one line per frame, the innermost first, with
 * names if the program exports them; empty (size 1) without KM_TRACKING_STACKS.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_NOT_FOUND when no tracked allocation that is alive has this id;
 *   KM_ERROR_BUFFER_TOO_SMALL when the text needs more than `capacity_bytes`;
 *   KM_ERROR_INVALID_ARGUMENT when `buffer` is null and `capacity_bytes` is not 0, or when `buffer`
 *   and `out_size_bytes` are both null.
 */
KM_API km_status km_context_allocation_stack(km_context context, uint64_t allocation_id,
                                             char* buffer, uint64_t capacity_bytes,
                                             uint64_t* out_size_bytes) KM_NOEXCEPT;

/** Samples how much device memory the context has in use, every `interval_ns`, on a thread of the
 * library, until it is stopped. What an earlier profile found is forgotten.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `interval_ns` is 0; KM_ERROR_NOT_PERMITTED when a profile of the
 *   context runs already.
 */
KM_API km_status km_context_start_memory_profile(km_context context,
                                                 uint64_t interval_ns) KM_NOEXCEPT;

/** Ends the profile and keeps its findings. Fine when none runs.
 * Blocking: until the sampling thread has ended, at most some microseconds.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context.
 */
KM_API km_status km_context_stop_memory_profile(km_context context) KM_NOEXCEPT;

/** The figures of the profile that runs, or ran last: peak, minimum, mean, samples. Set
 * `out_profile->struct_size` first.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_profile` is null or its struct_size is below 4.
 */
KM_API km_status km_context_memory_profile(km_context context,
                                           km_memory_profile* out_profile) KM_NOEXCEPT;

/** The samples, as many as there is room for; `*out_count` is how many there are. At most 65536 are
 * kept: then every second one is dropped and the distance doubled. Null for `out_samples` and 0 for
 * `capacity` only count.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_count` is null, or `out_samples` is null and `capacity` not
 *   0.
 */
KM_API km_status km_context_memory_samples(km_context context, uint64_t capacity,
                                           km_memory_sample* out_samples,
                                           uint64_t* out_count) KM_NOEXCEPT;

/** Has the library take its own host memory (objects, queues, texts; not device memory and not
 * stacks) from these functions from now on; null for both: from malloc again. What was allocated
 * before goes back to where it came from, so the functions have to work until the process ends.
 * They may make no call of this library, and have to return. Where `allocate` returns null, the
 * call that needed the memory fails with KM_ERROR_OUT_OF_HOST_MEMORY; for KM_HOST_ALLOCATION_NEEDED
 * the library has a reserve, and when that is used up, too, the code generator gives up
 * (KM_ERROR_OUT_OF_HOST_MEMORY) and other threads wait until there is memory.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when only one of the functions is null;
 *   KM_ERROR_NOT_SUPPORTED when the library was built with a sanitizer.
 */
KM_API km_status km_set_allocator(km_allocate_callback allocate, km_free_callback release,
                                  void* user_data) KM_NOEXCEPT;

/* Programs: CUDA C++ to PTX. */

/** A CUDA C++ source, to be compiled to PTX. `source_size_bytes` 0: up to its closing zero. Source
 * and name are copied; `name` is for messages (null: "kernel.cu"). The handle is the caller's, to
 * be given to km_program_destroy. CUDA: nvrtcCreateProgram.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `source` or `out_program` is null.
 */
KM_API km_status km_program_create(const char* source, uint64_t source_size_bytes, const char* name,
                                   km_program* out_program) KM_NOEXCEPT;

/** Drops the caller's handle. Modules made from it stay. Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `program` is neither null nor a live program.
 */
KM_API km_status km_program_destroy(km_program program) KM_NOEXCEPT;

/** An option for the next compilation, as NVRTC spells it, for example "--use_fast_math" or
 * "-DN=4". Copied.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `program` is not a live program;
 *   KM_ERROR_INVALID_ARGUMENT when `option` is null.
 */
KM_API km_status km_program_add_option(km_program program, const char* option) KM_NOEXCEPT;

/** A header that `#include "name"` finds in the next compilation. `source_size_bytes` 0: up to its
 * closing zero; a null `source` is an empty header. Copied.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `program` is not a live program;
 *   KM_ERROR_INVALID_ARGUMENT when `name` is null, empty, longer than 4,095 bytes or the name of
 *   another header, or when `source` is null and its size is not 0.
 */
KM_API km_status km_program_add_header(km_program program, const char* name, const char* source,
                                       uint64_t source_size_bytes) KM_NOEXCEPT;

/** A C++ name, such as "scale<float>", that the next compilation keeps and whose name in the PTX
 * km_program_lowered_name then gives. Copied. CUDA: nvrtcAddNameExpression.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `program` is not a live program;
 *   KM_ERROR_INVALID_ARGUMENT when `expression` is null.
 */
KM_API km_status km_program_add_name_expression(km_program program,
                                                const char* expression) KM_NOEXCEPT;

/** Compiles with all that was added so far; again after more was added. CUDA: nvrtcCompileProgram.
 * Blocking: while the compiler works, from tens of milliseconds to seconds; compilations take
 *   turns.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `program` is not a live program;
 *   KM_ERROR_COMPILATION_FAILED when the source has errors, all of which km_program_log lists;
 *   KM_ERROR_NVRTC_UNAVAILABLE when NVRTC is not installed, with where it was looked for and how
 *   to get it; KM_ERROR_INVALID_ARGUMENT when NVRTC does not know an option.
 */
KM_API km_status km_program_compile(km_program program) KM_NOEXCEPT;

/** The compiler's latest text, warnings of a success included; empty (size 1) before. CUDA:
 * nvrtcGetProgramLog.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `program` is not a live program;
 *   KM_ERROR_BUFFER_TOO_SMALL when the text needs more than `capacity_bytes`;
 *   KM_ERROR_INVALID_ARGUMENT when `buffer` is null and `capacity_bytes` is not 0, or when
 *   `buffer` and `out_size_bytes` are both null.
 */
KM_API km_status km_program_log(km_program program, char* buffer, uint64_t capacity_bytes,
                                uint64_t* out_size_bytes) KM_NOEXCEPT;

/** The PTX of the last compilation. CUDA: nvrtcGetPTX.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `program` is not a live program;
 *   KM_ERROR_NOT_FOUND when the program has not been compiled with success;
 *   KM_ERROR_BUFFER_TOO_SMALL when the text needs more than `capacity_bytes`;
 *   KM_ERROR_INVALID_ARGUMENT when `buffer` is null and `capacity_bytes` is not 0, or when
 *   `buffer` and `out_size_bytes` are both null.
 */
KM_API km_status km_program_ptx(km_program program, char* buffer, uint64_t capacity_bytes,
                                uint64_t* out_size_bytes) KM_NOEXCEPT;

/** The name in the PTX of a name expression. CUDA: nvrtcGetLoweredName.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `program` is not a live program;
 *   KM_ERROR_NOT_FOUND when the program has not been compiled with success or the expression was
 *   not added before; KM_ERROR_INVALID_ARGUMENT when `expression` is null;
 *   KM_ERROR_BUFFER_TOO_SMALL when the text needs more than `capacity_bytes`;
 *   KM_ERROR_INVALID_ARGUMENT when `buffer` is null and `capacity_bytes` is not 0, or when
 *   `buffer` and `out_size_bytes` are both null.
 */
KM_API km_status km_program_lowered_name(km_program program, const char* expression, char* buffer,
                                         uint64_t capacity_bytes,
                                         uint64_t* out_size_bytes) KM_NOEXCEPT;

/* Modules, functions, global symbols. */

/** Loads PTX text. `ptx_size_bytes` 0: up to its closing zero. `name` is for messages (null:
 * "module.ptx"). Text and name are copied. The handle is the caller's, to be given to
 * km_module_destroy. CUDA: cuModuleLoadDataEx.
 * Blocking: while the text is read and checked; kernels are compiled at their first launch or
 *   here.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `ptx` or `out_module` is null; KM_ERROR_INVALID_PTX when the
 *   text is not PTX, with line and column; KM_ERROR_UNSUPPORTED_PTX when the device can run none of
 *   its kernels, with the instruction and its line; KM_ERROR_COMPILER when the code generator
 *   failed; KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has not enough memory for its variables;
 *   the sticky error of the context when a kernel failed.
 */
KM_API km_status km_module_load_ptx(km_context context, const char* ptx, uint64_t ptx_size_bytes,
                                    const char* name, km_module* out_module) KM_NOEXCEPT;

/** Loads a file of PTX, CUDA C++ or object code: *.ptx and *.cu by their ending, others by their
 * content. CUDA: cuModuleLoad.
 * Blocking: while the text is read and checked; kernels are compiled at their first launch or
 *   here.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `path` or `out_module` is null; KM_ERROR_NOT_FOUND when there is
 *   no such file; KM_ERROR_IO when it cannot be read or has more than 256 MiB;
 *   KM_ERROR_NOT_SUPPORTED when it is a compiled image; KM_ERROR_COMPILATION_FAILED when the source
 *   has errors, the first of which the message has; KM_ERROR_NVRTC_UNAVAILABLE when NVRTC is not
 *   installed, with where it was looked for and how to get it; KM_ERROR_INVALID_PTX when the text
 *   is not PTX, with line and column; KM_ERROR_UNSUPPORTED_PTX when the device can run none of its
 *   kernels, with the instruction and its line; KM_ERROR_COMPILER when the code generator failed;
 *   KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has not enough memory for its variables; the
 *   sticky error of the context when a kernel failed.
 */
KM_API km_status km_module_load_file(km_context context, const char* path,
                                     km_module* out_module) KM_NOEXCEPT;

/** A module from the contents of an object file, which km_module_save_object made: nothing is
 * compiled for the block sizes that it was made for, nor for others, which run code for any size.
 * `name` is for messages (null: "module.kmo"). Data and name are copied. CUDA: cuModuleLoadDataEx.
 * Object files are executed: take them from where programs come from.
 * Blocking: while the data is read and checked.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `data` or `out_module` is null, or the data is no object file or
 *   is damaged; KM_ERROR_BUILD_MISMATCH when another build of the library made it, with both;
 *   KM_ERROR_NOT_SUPPORTED when it is for instructions that this machine lacks, or the backend has
 *   no compiled modules; KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has not enough memory for
 *   its variables; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_module_from_object(km_context context, const void* data, uint64_t size_bytes,
                                       const char* name, km_module* out_module) KM_NOEXCEPT;

/** Compiles all kernels of a module for blocks of these sizes, and for blocks of any size, and
 * writes them to a file, for the instruction set and the build of this library. `blocks` has three
 * numbers (x, y, z) for each of `block_count` sizes; null when there are none. Sizes that the
 * launch bounds of a kernel exclude are left out for it, and so are kernels that the device cannot
 * run.
 * CUDA: the cubin of cuLinkComplete.
 * Blocking: while the code is made; tens of milliseconds for each kernel and size.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `module` is not a live module;
 *   KM_ERROR_CONTEXT_LOST when the context of `module` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `path` is null, `blocks` is null though `block_count` is not 0,
 *   or `block_count` is above 4,096; KM_ERROR_INVALID_LAUNCH when the device has no blocks of such
 *   a size; KM_ERROR_IO when the file cannot be written; KM_ERROR_UNSUPPORTED_PTX when a kernel
 *   uses what the device lacks for blocks of such a size; KM_ERROR_COMPILER when the code generator
 *   fails; KM_ERROR_NOT_SUPPORTED when the backend has no compiled modules.
 */
KM_API km_status km_module_save_object(km_module module, const char* path, const uint32_t* blocks,
                                       uint64_t block_count) KM_NOEXCEPT;

/** Compiles CUDA C++ for the context's device and loads it. `source_size_bytes` 0: up to its
 * closing zero. `name` is for messages (null: "kernel.cu"). Source and name are copied.
 * Blocking: while the compiler works.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `source` or `out_module` is null; KM_ERROR_COMPILATION_FAILED
 *   when the source has errors, the first of which the message has; KM_ERROR_NVRTC_UNAVAILABLE when
 *   NVRTC is not installed, with where it was looked for and how to get it; KM_ERROR_INVALID_PTX
 *   when the text is not PTX, with line and column; KM_ERROR_UNSUPPORTED_PTX when the device can
 *   run none of its kernels, with the instruction and its line; KM_ERROR_COMPILER when the code
 *   generator failed; KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has not enough memory for its
 *   variables; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_module_load_source(km_context context, const char* source,
                                       uint64_t source_size_bytes, const char* name,
                                       km_module* out_module) KM_NOEXCEPT;

/** Loads the PTX of a compiled program. Its kernels are found by their name expressions too.
 * Blocking: while the text is read and checked; kernels are compiled at their first launch or
 *   here.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context, or `program`
 *   not a live program; KM_ERROR_INVALID_ARGUMENT when `out_module` is null; KM_ERROR_NOT_FOUND
 *   when the program has not been compiled with success; KM_ERROR_INVALID_PTX when the text is not
 *   PTX, with line and column; KM_ERROR_UNSUPPORTED_PTX when the device can run none of its
 *   kernels, with the instruction and its line; KM_ERROR_COMPILER when the code generator failed;
 *   KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has not enough memory for its variables; the
 *   sticky error of the context when a kernel failed.
 */
KM_API km_status km_module_load_program(km_context context, km_program program,
                                        km_module* out_module) KM_NOEXCEPT;

/** Drops the caller's handle. Functions and global symbols of the module keep it; code goes when no
 * kernel of it runs any more. Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `module` is neither null nor a live module.
 */
KM_API km_status km_module_destroy(km_module module) KM_NOEXCEPT;

/** How many kernels a module has.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `module` is not a live module;
 *   KM_ERROR_CONTEXT_LOST when the context of `module` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_count` is null.
 */
KM_API km_status km_module_function_count(km_module module, uint32_t* out_count) KM_NOEXCEPT;

/** The name of a kernel by its number, in the order of the text.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `module` is not a live module;
 *   KM_ERROR_CONTEXT_LOST when the context of `module` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `index` is not below km_module_function_count, `buffer` is null
 *   and `capacity_bytes` is not 0, or `buffer` and `out_size_bytes` are both null;
 *   KM_ERROR_BUFFER_TOO_SMALL when the text needs more than `capacity_bytes`.
 */
KM_API km_status km_module_function_name(km_module module, uint32_t index, char* buffer,
                                         uint64_t capacity_bytes,
                                         uint64_t* out_size_bytes) KM_NOEXCEPT;

/** A kernel by its name in the PTX (mangled, unless it is extern "C") or by a name expression of
 * the program. The handle is the caller's, to be given to km_function_destroy, and keeps the
 * module. CUDA: cuModuleGetFunction.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `module` is not a live module;
 *   KM_ERROR_CONTEXT_LOST when the context of `module` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `name` or `out_function` is null; KM_ERROR_NOT_FOUND when the
 *   module has no such kernel, with the nearest name and what there is; KM_ERROR_UNSUPPORTED_PTX
 *   when it is one that the device cannot run, with the instruction and its line.
 */
KM_API km_status km_module_function(km_module module, const char* name,
                                    km_function* out_function) KM_NOEXCEPT;

/** A global or constant variable of a module as a slice, which is the caller's to destroy and keeps
 * the module. CUDA: cuModuleGetGlobal.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `module` is not a live module;
 *   KM_ERROR_CONTEXT_LOST when the context of `module` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `name` or `out_slice` is null; KM_ERROR_NOT_FOUND when the
 *   module has no such variable; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_module_global(km_module module, const char* name,
                                  km_slice* out_slice) KM_NOEXCEPT;

/** Drops the caller's handle. Launches under way go on. Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is neither null nor a live function.
 */
KM_API km_status km_function_destroy(km_function function) KM_NOEXCEPT;

/** The kernel's name in the PTX.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is not a live function;
 *   KM_ERROR_CONTEXT_LOST when the context of `function` was reset after its creation;
 *   KM_ERROR_BUFFER_TOO_SMALL when the text needs more than `capacity_bytes`;
 *   KM_ERROR_INVALID_ARGUMENT when `buffer` is null and `capacity_bytes` is not 0, or when
 *   `buffer` and `out_size_bytes` are both null.
 */
KM_API km_status km_function_name(km_function function, char* buffer, uint64_t capacity_bytes,
                                  uint64_t* out_size_bytes) KM_NOEXCEPT;

/** One property of a kernel. CUDA: cuFuncGetAttribute.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is not a live function;
 *   KM_ERROR_CONTEXT_LOST when the context of `function` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `attribute` is no function attribute or `out_value` is null;
 *   KM_ERROR_NOT_SUPPORTED when the device cannot tell.
 */
KM_API km_status km_function_attribute_get(km_function function, km_function_attribute attribute,
                                           int64_t* out_value) KM_NOEXCEPT;

/** Sets an attribute that is settable: KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES, which allows
 * launches with more dynamic shared memory than the default limit, or one of the hints. CUDA:
 * cuFuncSetAttribute.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is not a live function;
 *   KM_ERROR_CONTEXT_LOST when the context of `function` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when the attribute cannot be set or `value` is none that it can
 *   have, as the message says.
 */
KM_API km_status km_function_attribute_set(km_function function, km_function_attribute attribute,
                                           int64_t value) KM_NOEXCEPT;

/** Makes machine code now, so that the first launch with blocks of this size need not wait for it.
 * Launches work without it. Does nothing where the device needs no code of its own.
 * Blocking: yes, until the code is made.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is not a live function;
 *   KM_ERROR_CONTEXT_LOST when the context of `function` was reset after its creation;
 *   KM_ERROR_INVALID_LAUNCH when no launch of the kernel can have such blocks;
 *   KM_ERROR_UNSUPPORTED_PTX when the kernel uses what the device lacks for blocks of this size;
 *   KM_ERROR_COMPILER when the code generator fails.
 */
KM_API km_status km_function_prepare(km_function function, uint32_t block_x, uint32_t block_y,
                                     uint32_t block_z) KM_NOEXCEPT;

/** How many blocks of `block_threads` threads with `shared_bytes` of dynamic shared memory each a
 * multiprocessor holds at a time, by its warps, registers, shared memory and number of blocks. None
 * (active_blocks 0) where a block does not fit. Set `out_occupancy->struct_size` first. CUDA:
 * cuOccupancyMaxActiveBlocksPerMultiprocessor.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is not a live function;
 *   KM_ERROR_CONTEXT_LOST when the context of `function` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `block_threads` is 0, `out_occupancy` is null or its struct_size
 *   is below 4; KM_ERROR_NOT_SUPPORTED when the device does not tell its limits.
 */
KM_API km_status km_function_occupancy(km_function function, uint32_t block_threads,
                                       uint64_t shared_bytes,
                                       km_occupancy* out_occupancy) KM_NOEXCEPT;

/** The block size that keeps the most threads of a multiprocessor busy, and the smallest grid that
 * fills the device with such blocks. Each block has `shared_bytes` of dynamic shared memory, or as
 * much as `shared_of` says for its size (null: `shared_bytes` for all). Blocks have at most
 * `max_block_threads` threads; 0: as many as the kernel can have. CUDA:
 * cuOccupancyMaxPotentialBlockSize.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is not a live function;
 *   KM_ERROR_CONTEXT_LOST when the context of `function` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when an out-parameter is null; KM_ERROR_INVALID_LAUNCH when blocks of
 *   no size fit; KM_ERROR_NOT_SUPPORTED when the device does not tell its limits.
 */
KM_API km_status km_function_best_block(km_function function, uint64_t shared_bytes,
                                        km_shared_bytes_callback shared_of, void* user_data,
                                        uint32_t max_block_threads, uint32_t* out_block_threads,
                                        uint32_t* out_grid_blocks) KM_RUNS_CALLBACKS;

/** The most dynamic shared memory that a block can have while `block_count` blocks of
 * `block_threads` threads fit on a multiprocessor. CUDA: cuOccupancyAvailableDynamicSMemPerBlock.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is not a live function;
 *   KM_ERROR_CONTEXT_LOST when the context of `function` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `block_count` or `block_threads` is 0, or `out_shared_bytes` is
 *   null; KM_ERROR_INVALID_LAUNCH when so many blocks do not fit, with the reason;
 *   KM_ERROR_NOT_SUPPORTED when the device does not tell its limits.
 */
KM_API km_status km_function_available_shared_bytes(km_function function, uint32_t block_count,
                                                    uint32_t block_threads,
                                                    uint64_t* out_shared_bytes) KM_NOEXCEPT;

/** How many clusters of `cluster_blocks` blocks the device holds at a time, each block with
 * `block_threads` threads and `shared_bytes` of dynamic shared memory. CUDA:
 * cuOccupancyMaxActiveClusters.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is not a live function;
 *   KM_ERROR_CONTEXT_LOST when the context of `function` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `block_threads` or `cluster_blocks` is 0, `cluster_blocks` is
 *   more than a cluster of the kernel may have, or `out_clusters` is null; KM_ERROR_NOT_SUPPORTED
 *   when the device has no clusters of more than one block, or does not tell its limits.
 */
KM_API km_status km_function_max_active_clusters(km_function function, uint32_t block_threads,
                                                 uint64_t shared_bytes, uint32_t cluster_blocks,
                                                 uint32_t* out_clusters) KM_NOEXCEPT;

/** How many parameters a kernel has.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is not a live function;
 *   KM_ERROR_CONTEXT_LOST when the context of `function` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_count` is null.
 */
KM_API km_status km_function_param_count(km_function function, uint32_t* out_count) KM_NOEXCEPT;

/** Size, alignment and place in the argument buffer of a parameter, whether it is an address, and
 * whether PTX declares it as an integer or as a floating-point number. Set `out_info->struct_size`
 * first. CUDA: cuFuncGetParamInfo.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is not a live function;
 *   KM_ERROR_CONTEXT_LOST when the context of `function` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `index` is not below km_function_param_count, `out_info` is
 *   null or its struct_size is below 4.
 */
KM_API km_status km_function_param(km_function function, uint32_t index,
                                   km_param_info* out_info) KM_NOEXCEPT;

/** The type of a parameter as CUDA C++ declares it. It is known of kernels that are compiled here
 * from CUDA C++, of PTX that this library made of such a source and of object files made of that
 * PTX, and of every kernel with a mangled C++ name. Anything else has the kind
 * KM_SIGNATURE_KIND_UNKNOWN, which is no error. Set `out_signature->struct_size` first.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is not a live function;
 *   KM_ERROR_CONTEXT_LOST when the context of `function` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `index` is not below km_function_param_count, `out_signature` is
 *   null or its struct_size is below 4.
 */
KM_API km_status km_function_param_signature(km_function function, uint32_t index,
                                             km_param_signature* out_signature) KM_NOEXCEPT;

/** The name of the element type of a parameter as CUDA C++ spells it: "float", "float4",
 * "ns::Point<int>"; of a pointer, the name of what it points to. Empty (size 1) where it is not
 * known.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is not a live function;
 *   KM_ERROR_CONTEXT_LOST when the context of `function` was reset after its creation;
 *   KM_ERROR_BUFFER_TOO_SMALL when the text needs more than `capacity_bytes`;
 *   KM_ERROR_INVALID_ARGUMENT when `index` is not below km_function_param_count, `buffer` is null
 *   and `capacity_bytes` is not 0, or `buffer` and `out_size_bytes` are both null.
 */
KM_API km_status km_function_param_type_name(km_function function, uint32_t index, char* buffer,
                                             uint64_t capacity_bytes,
                                             uint64_t* out_size_bytes) KM_NOEXCEPT;

/* Launches. */

/** A launch to be put together step by step: set grid and block, give one argument per parameter in
 * order, submit. The handle is the caller's, to be given to km_launch_destroy, and keeps stream
 * and function.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, or `function`
 *   not a live function; KM_ERROR_CONTEXT_LOST when the context of `stream` or `function` was
 *   reset after its creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different
 *   contexts; KM_ERROR_INVALID_ARGUMENT when `out_launch` is null.
 */
KM_API km_status km_launch_create(km_stream stream, km_function function,
                                  km_launch* out_launch) KM_NOEXCEPT;

/** Drops the caller's handle. What was submitted goes on. Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `launch` is neither null nor a live launch.
 */
KM_API km_status km_launch_destroy(km_launch launch) KM_NOEXCEPT;

/** Blocks of the grid. Checked when the launch is submitted.
 * Blocking: no.
 * Threads: any, but a launch takes one argument after the other: use it on one thread at a time.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `launch` is not a live launch;
 *   KM_ERROR_CONTEXT_LOST when the context of `launch` was reset after its creation.
 */
KM_API km_status km_launch_set_grid(km_launch launch, uint32_t x, uint32_t y,
                                    uint32_t z) KM_NOEXCEPT;

/** Threads of a block. Checked when the launch is submitted.
 * Blocking: no.
 * Threads: any, but a launch takes one argument after the other: use it on one thread at a time.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `launch` is not a live launch;
 *   KM_ERROR_CONTEXT_LOST when the context of `launch` was reset after its creation.
 */
KM_API km_status km_launch_set_block(km_launch launch, uint32_t x, uint32_t y,
                                     uint32_t z) KM_NOEXCEPT;

/** Dynamic shared memory of each block; 0 unless set. Checked when the launch is submitted.
 * Blocking: no.
 * Threads: any, but a launch takes one argument after the other: use it on one thread at a time.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `launch` is not a live launch;
 *   KM_ERROR_CONTEXT_LOST when the context of `launch` was reset after its creation.
 */
KM_API km_status km_launch_set_shared_bytes(km_launch launch, uint64_t shared_bytes) KM_NOEXCEPT;

/** Blocks of a cluster, which use each other's shared memory and wait for each other. 0, 0, 0 (as
 * at first): what the kernel was compiled for, else none. Checked when the launch is submitted.
 * CUDA: CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION of cuLaunchKernelEx.
 * Blocking: no.
 * Threads: any, but a launch takes one argument after the other: use it on one thread at a time.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `launch` is not a live launch;
 *   KM_ERROR_CONTEXT_LOST when the context of `launch` was reset after its creation.
 */
KM_API km_status km_launch_set_cluster(km_launch launch, uint32_t x, uint32_t y,
                                       uint32_t z) KM_NOEXCEPT;

/** Lets all blocks of the grid wait for each other (grid.sync() of cooperative groups): 1 or, as at
 * first, 0. When they do not fit the device at once, the launch cannot be submitted. CUDA:
 * CU_LAUNCH_ATTRIBUTE_COOPERATIVE of cuLaunchKernelEx.
 * Blocking: no.
 * Threads: any, but a launch takes one argument after the other: use it on one thread at a time.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `launch` is not a live launch;
 *   KM_ERROR_CONTEXT_LOST when the context of `launch` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `cooperative` is neither 0 nor 1.
 */
KM_API km_status km_launch_set_cooperative(km_launch launch, uint32_t cooperative) KM_NOEXCEPT;

/** The next argument is the address `offset_bytes` into a slice. The memory is kept until the
 * launches are done.
 * Blocking: no.
 * Threads: any, but a launch takes one argument after the other: use it on one thread at a time.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `launch` is not a live launch, or `slice` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of `launch` or `slice` was reset after its
 *   creation; KM_ERROR_INVALID_LAUNCH when the kernel has no further parameter or the next one has
 *   another size, as the message says; KM_ERROR_OUT_OF_BOUNDS when the offset is beyond the end of
 *   the slice; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts.
 */
KM_API km_status km_launch_arg_slice(km_launch launch, km_slice slice,
                                     uint64_t offset_bytes) KM_NOEXCEPT;

/** Like km_launch_arg_slice, and says what the kernel does with the slice: that it uses
 * `size_bytes` from the offset on (0: all of the slice), and whether it only reads them. In a
 * context with KM_CONTEXT_ORDERED, uses on other streams that do not conflict with that need not
 * wait for each other; that the kernel keeps to it is the caller's business.
 * Blocking: no.
 * Threads: any, but a launch takes one argument after the other: use it on one thread at a time.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `launch` is not a live launch, or `slice` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of `launch` or `slice` was reset after its
 *   creation; KM_ERROR_INVALID_LAUNCH when the kernel has no further parameter or the next one has
 *   another size, as the message says; KM_ERROR_OUT_OF_BOUNDS when offset and size are beyond the
 *   end of the slice; KM_ERROR_INVALID_ARGUMENT when `access` is no access;
 *   KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts.
 */
KM_API km_status km_launch_arg_slice_access(km_launch launch, km_slice slice, uint64_t offset_bytes,
                                            uint64_t size_bytes, km_access access) KM_NOEXCEPT;

/** The next argument is a raw device address. It is not checked, and the memory behind it is the
 * caller's business.
 * Blocking: no.
 * Threads: any, but a launch takes one argument after the other: use it on one thread at a time.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `launch` is not a live launch;
 *   KM_ERROR_CONTEXT_LOST when the context of `launch` was reset after its creation;
 *   KM_ERROR_INVALID_LAUNCH when the kernel has no further parameter or the next one has another
 *   size, as the message says.
 */
KM_API km_status km_launch_arg_address(km_launch launch, uint64_t address) KM_NOEXCEPT;

/** The next argument is a value or structure of `size_bytes`, which is copied.
 * Blocking: no.
 * Threads: any, but a launch takes one argument after the other: use it on one thread at a time.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `launch` is not a live launch;
 *   KM_ERROR_CONTEXT_LOST when the context of `launch` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `value` is null; KM_ERROR_INVALID_LAUNCH when the kernel has no
 *   further parameter or the next one has another size, as the message says.
 */
KM_API km_status km_launch_arg_scalar(km_launch launch, const void* value,
                                      uint64_t size_bytes) KM_NOEXCEPT;

/** Queues the kernel in the stream. Afterwards the launch may be submitted again: as it is, or with
 * all its arguments given anew. CUDA: cuLaunchKernel.
 * Blocking: no, but the first launch of a kernel may compile it.
 * Threads: any, but a launch takes one argument after the other: use it on one thread at a time.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `launch` is not a live launch;
 *   KM_ERROR_CONTEXT_LOST when the context of `launch` was reset after its creation;
 *   KM_ERROR_INVALID_LAUNCH when grid, block, shared memory or arguments do not fit the kernel or
 *   the device, as the message says; nothing was run then; KM_ERROR_UNSUPPORTED_PTX when the
 *   device cannot run the kernel in this shape; KM_ERROR_COMPILER when the code generator failed;
 *   KM_ERROR_OUT_OF_DEVICE_MEMORY when there is no room for the launch; the sticky error of the
 *   context when a kernel failed.
 */
KM_API km_status km_launch_submit(km_launch launch) KM_NOEXCEPT;

/** Does all of it in one call, for bindings. `arguments` holds the arguments at the offsets that
 * km_function_param gives, `arguments_size_bytes` in all: the end of the last parameter. For each
 * entry of `slices`, the address of that slice plus its offset is put in the place of that
 * parameter, and the memory is kept until the kernel is done. Everything is copied before the call
 * returns. CUDA: cuLaunchKernel.
 * Blocking: no, but the first launch of a kernel may compile it.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, `function` not a
 *   live function, or an entry of `slices` not a live slice; KM_ERROR_CONTEXT_LOST when the
 *   context of one of the objects was reset after its creation; KM_ERROR_CONTEXT_MISMATCH when the
 *   objects belong to different contexts; KM_ERROR_INVALID_ARGUMENT when `config` is null,
 *   `arguments` or `slices` is null and its size is not 0, or a `reserved` is not 0;
 *   KM_ERROR_OUT_OF_BOUNDS when the offset of an entry is beyond the end of its slice;
 *   KM_ERROR_INVALID_LAUNCH when grid, block, shared memory or arguments do not fit the kernel or
 *   the device, as the message says; nothing was run then; KM_ERROR_UNSUPPORTED_PTX when the
 *   device cannot run the kernel in this shape; KM_ERROR_COMPILER when the code generator failed;
 *   KM_ERROR_OUT_OF_DEVICE_MEMORY when there is no room for the launch; the sticky error of the
 *   context when a kernel failed.
 */
KM_API km_status km_launch_kernel(km_stream stream, km_function function,
                                  const km_launch_config* config, const void* arguments,
                                  uint64_t arguments_size_bytes, const km_launch_slice* slices,
                                  uint64_t slice_count) KM_NOEXCEPT;

/** Like km_launch_kernel, and says for each slice what the kernel does with it, as
 * km_launch_arg_slice_access does. CUDA: cuLaunchKernel.
 * Blocking: no, but the first launch of a kernel may compile it.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream, `function` not a
 *   live function, or an entry of `operands` not a live slice; KM_ERROR_CONTEXT_LOST when the
 *   context of one of the objects was reset after its creation; KM_ERROR_CONTEXT_MISMATCH when the
 *   objects belong to different contexts; KM_ERROR_INVALID_ARGUMENT when `config` is null,
 *   `arguments` or `operands` is null and its size is not 0, or an `access` is no access;
 *   KM_ERROR_OUT_OF_BOUNDS when offset and size of an entry are beyond the end of its slice;
 *   KM_ERROR_INVALID_LAUNCH when grid, block, shared memory or arguments do not fit the kernel or
 *   the device, as the message says; nothing was run then; KM_ERROR_UNSUPPORTED_PTX when the
 *   device cannot run the kernel in this shape; KM_ERROR_COMPILER when the code generator failed;
 *   KM_ERROR_OUT_OF_DEVICE_MEMORY when there is no room for the launch; the sticky error of the
 *   context when a kernel failed.
 */
KM_API km_status km_launch_kernel_operands(km_stream stream, km_function function,
                                           const km_launch_config* config, const void* arguments,
                                           uint64_t arguments_size_bytes,
                                           const km_launch_operand* operands,
                                           uint64_t operand_count) KM_NOEXCEPT;

/* Graphs: work that is put together once and launched many times. */

/** A new graph without nodes. Nodes have numbers from 1 on, which a clone keeps and which are not
 * used again. The handle is the caller's, to be given to km_graph_destroy. CUDA: cuGraphCreate.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_graph` is null.
 */
KM_API km_status km_graph_create(km_context context, km_graph* out_graph) KM_NOEXCEPT;

/** Drops the caller's handle. What was instantiated from the graph stays. Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is neither null nor a live graph.
 */
KM_API km_status km_graph_destroy(km_graph graph) KM_NOEXCEPT;

/** A copy of a graph, with the same numbers of nodes; the caller's to destroy. CUDA: cuGraphClone.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_graph` is null.
 */
KM_API km_status km_graph_clone(km_graph graph, km_graph* out_graph) KM_NOEXCEPT;

/** Adds a kernel, which runs after the nodes that it depends on. The arguments are those of
 * km_launch_kernel, and are copied. The graph keeps the function, the memory of the slices, and the
 * memory that arguments of 8 bytes are addresses of. CUDA: cuGraphAddKernelNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, `function` not a
 *   live function, or an entry of `slices` not a live slice; KM_ERROR_CONTEXT_LOST when the context
 *   of one of the objects was reset after its creation; KM_ERROR_CONTEXT_MISMATCH when the objects
 *   belong to different contexts; KM_ERROR_INVALID_ARGUMENT when `dependencies` is null and
 *   `dependency_count` is not 0, names no node of the graph or names one twice, `config` is null,
 *   `arguments` or `slices` is null and its size is not 0, or a `reserved` is not 0, or `out_node`
 *   is null; KM_ERROR_OUT_OF_BOUNDS when the offset of an entry is beyond the end of its slice;
 *   KM_ERROR_INVALID_LAUNCH when grid, block, shared memory or arguments do not fit the kernel or
 *   the device, as the message says.
 */
KM_API km_status km_graph_add_kernel(km_graph graph, const uint64_t* dependencies,
                                     uint64_t dependency_count, km_function function,
                                     const km_launch_config* config, const void* arguments,
                                     uint64_t arguments_size_bytes, const km_launch_slice* slices,
                                     uint64_t slice_count, uint64_t* out_node) KM_NOEXCEPT;

/** Adds a copy between slices. CUDA: cuGraphAddMemcpyNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `destination` or
 *   `source` not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was
 *   reset after its creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different
 *   contexts; KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside both slices;
 *   KM_ERROR_INVALID_ARGUMENT when `dependencies` is null and `dependency_count` is not 0, names no
 *   node of the graph or names one twice, source and destination overlap without being the same, or
 *   `out_node` is null.
 */
KM_API km_status km_graph_add_copy(km_graph graph, const uint64_t* dependencies,
                                   uint64_t dependency_count, km_slice destination,
                                   uint64_t destination_offset_bytes, km_slice source,
                                   uint64_t source_offset_bytes, uint64_t size_bytes,
                                   uint64_t* out_node) KM_NOEXCEPT;

/** Adds a copy from the host, which reads `source` each time the graph runs. Page-locked memory of
 * this library (km_host_memory_*) is kept; any other has to stay valid while the graph and what is
 * instantiated from it live. CUDA: cuGraphAddMemcpyNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `destination`
 *   not a live slice; KM_ERROR_CONTEXT_LOST when the context of `graph` or `destination` was reset
 *   after its creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice; KM_ERROR_INVALID_ARGUMENT
 *   when `dependencies` is null and `dependency_count` is not 0, names no node of the graph or
 *   names one twice, `source` is null and `size_bytes` is not 0, or `out_node` is null.
 */
KM_API km_status km_graph_add_upload(km_graph graph, const uint64_t* dependencies,
                                     uint64_t dependency_count, km_slice destination,
                                     uint64_t offset_bytes, const void* source, uint64_t size_bytes,
                                     uint64_t* out_node) KM_NOEXCEPT;

/** Adds a copy to the host, which writes `destination` each time the graph runs. Page-locked memory
 * of this library (km_host_memory_*) is kept; any other has to stay valid while the graph and what
 * is instantiated from it live. CUDA: cuGraphAddMemcpyNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `source` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of `graph` or `source` was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice; KM_ERROR_INVALID_ARGUMENT
 *   when `dependencies` is null and `dependency_count` is not 0, names no node of the graph or
 *   names one twice, `destination` is null and `size_bytes` is not 0, or `out_node` is null.
 */
KM_API km_status km_graph_add_download(km_graph graph, const uint64_t* dependencies,
                                       uint64_t dependency_count, km_slice source,
                                       uint64_t offset_bytes, void* destination,
                                       uint64_t size_bytes, uint64_t* out_node) KM_NOEXCEPT;

/** Adds a fill: a value of 1, 2 or 4 bytes, `count` times. CUDA: cuGraphAddMemsetNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `slice` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of `graph` or `slice` was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice; KM_ERROR_INVALID_ARGUMENT
 *   when `dependencies` is null and `dependency_count` is not 0, names no node of the graph or
 *   names one twice, `value_size_bytes` is not 1, 2 or 4, the first address is not a multiple of
 *   it, or `out_node` is null.
 */
KM_API km_status km_graph_add_fill(km_graph graph, const uint64_t* dependencies,
                                   uint64_t dependency_count, km_slice slice, uint64_t offset_bytes,
                                   uint32_t value, uint32_t value_size_bytes, uint64_t count,
                                   uint64_t* out_node) KM_NOEXCEPT;

/** Adds a call of a host function, under the rules of km_stream_add_callback: it runs exactly once
 * for each launch of the graph, after errors too, and may not make calls that wait. `user_data` has
 * to stay valid while the graph and what is instantiated from it live. CUDA: cuGraphAddHostNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `dependencies` is null and `dependency_count` is not 0, names no
 *   node of the graph or names one twice, `callback` is null, or `out_node` is null.
 */
KM_API km_status km_graph_add_host(km_graph graph, const uint64_t* dependencies,
                                   uint64_t dependency_count, km_host_callback callback,
                                   void* user_data, uint64_t* out_node) KM_NOEXCEPT;

/** Adds a node that does nothing but join and fork. CUDA: cuGraphAddEmptyNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `dependencies` is null and `dependency_count` is not 0, names no
 *   node of the graph or names one twice, or `out_node` is null.
 */
KM_API km_status km_graph_add_empty(km_graph graph, const uint64_t* dependencies,
                                    uint64_t dependency_count, uint64_t* out_node) KM_NOEXCEPT;

/** Adds a whole graph as it is now: later changes of `child` are not seen. CUDA:
 * cuGraphAddChildGraphNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `child` not a
 *   live graph; KM_ERROR_CONTEXT_LOST when the context of `graph` or `child` was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_INVALID_ARGUMENT when `dependencies` is null and `dependency_count` is not 0, names no
 *   node of the graph or names one twice, `child` is `graph`, or `out_node` is null.
 */
KM_API km_status km_graph_add_child(km_graph graph, const uint64_t* dependencies,
                                    uint64_t dependency_count, km_graph child,
                                    uint64_t* out_node) KM_NOEXCEPT;

/** Removes a node with all its dependencies. What is instantiated stays as it was. CUDA:
 * cuGraphDestroyNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is no node of the graph.
 */
KM_API km_status km_graph_remove_node(km_graph graph, uint64_t node) KM_NOEXCEPT;

/** Makes node `to` run after node `from`. CUDA: cuGraphAddDependencies.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `from` or `to` is no node of the graph, there is this dependency
 *   already, or it would close a circle.
 */
KM_API km_status km_graph_add_dependency(km_graph graph, uint64_t from, uint64_t to) KM_NOEXCEPT;

/** Takes back that node `to` runs after node `from`. CUDA: cuGraphRemoveDependencies.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `from` or `to` is no node of the graph; KM_ERROR_NOT_FOUND when
 *   there is no such dependency.
 */
KM_API km_status km_graph_remove_dependency(km_graph graph, uint64_t from, uint64_t to) KM_NOEXCEPT;

/** The numbers of all nodes, in the order of their making. Null and capacity 0 ask for the count.
 * CUDA: cuGraphGetNodes.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_BUFFER_TOO_SMALL when there are more than `capacity`; KM_ERROR_INVALID_ARGUMENT when
 *   `nodes` is null and `capacity` is not 0, or `nodes` and `out_count` are both null.
 */
KM_API km_status km_graph_nodes(km_graph graph, uint64_t* nodes, uint64_t capacity,
                                uint64_t* out_count) KM_NOEXCEPT;

/** The nodes that a node runs after. Null and capacity 0 ask for the count. CUDA:
 * cuGraphNodeGetDependencies.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_BUFFER_TOO_SMALL when there are more than `capacity`; KM_ERROR_INVALID_ARGUMENT when
 *   `node` is no node of the graph, `nodes` is null and `capacity` is not 0, or `nodes` and
 *   `out_count` are both null.
 */
KM_API km_status km_graph_node_dependencies(km_graph graph, uint64_t node, uint64_t* nodes,
                                            uint64_t capacity, uint64_t* out_count) KM_NOEXCEPT;

/** The nodes that run after a node. Null and capacity 0 ask for the count. CUDA:
 * cuGraphNodeGetDependentNodes.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_BUFFER_TOO_SMALL when there are more than `capacity`; KM_ERROR_INVALID_ARGUMENT when
 *   `node` is no node of the graph, `nodes` is null and `capacity` is not 0, or `nodes` and
 *   `out_count` are both null.
 */
KM_API km_status km_graph_node_dependents(km_graph graph, uint64_t node, uint64_t* nodes,
                                          uint64_t capacity, uint64_t* out_count) KM_NOEXCEPT;

/** Kind and parameters of a node. Set `out_info->struct_size` first. CUDA: cuGraphNodeGetType,
 * cuGraphKernelNodeGetParams and their like.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is no node of the graph, `out_info` is null or its
 *   struct_size is below 4.
 */
KM_API km_status km_graph_node_info_get(km_graph graph, uint64_t node,
                                        km_graph_node_info* out_info) KM_NOEXCEPT;

/** The arguments of a kernel's node, laid out as km_function_param says, with the addresses of
 * slices in place. Null and capacity 0 ask for the size.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is no node of the graph that is a kernel, `buffer` is
 *   null and `capacity_bytes` is not 0, or `buffer` and `out_size_bytes` are both null;
 *   KM_ERROR_BUFFER_TOO_SMALL when they are more than `capacity_bytes`.
 */
KM_API km_status km_graph_node_arguments(km_graph graph, uint64_t node, void* buffer,
                                         uint64_t capacity_bytes,
                                         uint64_t* out_size_bytes) KM_NOEXCEPT;

/** The function of a kernel's node, as a new handle that is the caller's to destroy.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is no node of the graph that is a kernel, or
 *   `out_function` is null.
 */
KM_API km_status km_graph_node_function(km_graph graph, uint64_t node,
                                        km_function* out_function) KM_NOEXCEPT;

/** A copy of a child node's graph, which is the caller's to destroy. CUDA:
 * cuGraphChildGraphNodeGetGraph.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is no node of the graph that is a child graph, or
 *   `out_graph` is null.
 */
KM_API km_status km_graph_node_child(km_graph graph, uint64_t node,
                                     km_graph* out_graph) KM_NOEXCEPT;

/** Gives a node that is a kernel its function, shape and arguments anew. What is instantiated stays
 * as it was: see km_graph_exec_update_node. CUDA: cuGraphKernelNodeSetParams.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, `function` not a
 *   live function, or an entry of `slices` not a live slice; KM_ERROR_CONTEXT_LOST when the context
 *   of one of the objects was reset after its creation; KM_ERROR_CONTEXT_MISMATCH when the objects
 *   belong to different contexts; KM_ERROR_OUT_OF_BOUNDS when the offset of an entry is beyond the
 *   end of its slice; KM_ERROR_INVALID_LAUNCH when grid, block, shared memory or arguments do not
 *   fit the kernel or the device, as the message says; KM_ERROR_INVALID_ARGUMENT when `node` is no
 *   node of the graph of this kind, `config` is null, `arguments` or `slices` is null and its size
 *   is not 0, or a `reserved` is not 0.
 */
KM_API km_status km_graph_set_kernel(km_graph graph, uint64_t node, km_function function,
                                     const km_launch_config* config, const void* arguments,
                                     uint64_t arguments_size_bytes, const km_launch_slice* slices,
                                     uint64_t slice_count) KM_NOEXCEPT;

/** Gives a node that is a copy its source, destination and size anew. What is instantiated stays as
 * it was: see km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `destination` or
 *   `source` not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was
 *   reset after its creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different
 *   contexts; KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside both slices;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is no node of the graph of this kind, or source and
 *   destination overlap without being the same.
 */
KM_API km_status km_graph_set_copy(km_graph graph, uint64_t node, km_slice destination,
                                   uint64_t destination_offset_bytes, km_slice source,
                                   uint64_t source_offset_bytes, uint64_t size_bytes) KM_NOEXCEPT;

/** Gives a node that is an upload its source, destination and size anew. What is instantiated stays
 * as it was: see km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `destination`
 *   not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after
 *   its creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice; KM_ERROR_INVALID_ARGUMENT
 *   when `node` is no node of the graph of this kind, or `source` is null and `size_bytes` is not
 *   0.
 */
KM_API km_status km_graph_set_upload(km_graph graph, uint64_t node, km_slice destination,
                                     uint64_t offset_bytes, const void* source,
                                     uint64_t size_bytes) KM_NOEXCEPT;

/** Gives a node that is a download its source, destination and size anew. What is instantiated
 * stays as it was: see km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `source` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice; KM_ERROR_INVALID_ARGUMENT
 *   when `node` is no node of the graph of this kind, or `destination` is null and `size_bytes` is
 *   not 0.
 */
KM_API km_status km_graph_set_download(km_graph graph, uint64_t node, km_slice source,
                                       uint64_t offset_bytes, void* destination,
                                       uint64_t size_bytes) KM_NOEXCEPT;

/** Gives a node that is a fill its place and value anew. What is instantiated stays as it was: see
 * km_graph_exec_update_node. CUDA: cuGraphMemsetNodeSetParams.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `slice` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside the slice; KM_ERROR_INVALID_ARGUMENT
 *   when `node` is no node of the graph of this kind, `value_size_bytes` is not 1, 2 or 4, or the
 *   first address is not a multiple of it.
 */
KM_API km_status km_graph_set_fill(km_graph graph, uint64_t node, km_slice slice,
                                   uint64_t offset_bytes, uint32_t value, uint32_t value_size_bytes,
                                   uint64_t count) KM_NOEXCEPT;

/** Gives a node that calls a host function that function anew. What is instantiated stays as it
 * was: see km_graph_exec_update_node. CUDA: cuGraphHostNodeSetParams.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is no node of the graph of this kind, or `callback` is
 *   null.
 */
KM_API km_status km_graph_set_host(km_graph graph, uint64_t node, km_host_callback callback,
                                   void* user_data) KM_NOEXCEPT;

/** Gives a node that is a child graph that graph anew. What is instantiated stays as it was: see
 * km_graph_exec_update_node. CUDA: cuGraphExecChildGraphNodeSetParams.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `child` not a
 *   live graph; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is no node of the graph of this kind, or `child` is
 *   `graph`.
 */
KM_API km_status km_graph_set_child(km_graph graph, uint64_t node, km_graph child) KM_NOEXCEPT;

/** Adds a copy of rows between slices, as km_slice_copy_3d says. CUDA: cuGraphAddMemcpyNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `destination` or
 *   `source` not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was
 *   reset after its creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different
 *   contexts; KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside its slice;
 *   KM_ERROR_INVALID_ARGUMENT when `dependencies` is null and `dependency_count` is not 0, names no
 *   node of the graph or names one twice, `copy` is null, a pitch is less than `width_bytes` or a
 *   distance of layers less than `height`, a row of the source overlaps one of the destination, or
 *   `out_node` is null.
 */
KM_API km_status km_graph_add_copy_3d(km_graph graph, const uint64_t* dependencies,
                                      uint64_t dependency_count, km_slice destination,
                                      km_slice source, const km_copy_3d* copy,
                                      uint64_t* out_node) KM_NOEXCEPT;

/** Gives a node that is a copy of rows its parameters anew. What is instantiated stays as it was:
 * see km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `destination` or
 *   `source` not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was
 *   reset after its creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different
 *   contexts; KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside its slice;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is no node of the graph of this kind, or `copy` is null,
 *   a pitch is less than `width_bytes` or a distance of layers less than `height`, a row of the
 *   source overlaps one of the destination.
 */
KM_API km_status km_graph_set_copy_3d(km_graph graph, uint64_t node, km_slice destination,
                                      km_slice source, const km_copy_3d* copy) KM_NOEXCEPT;

/** Adds a copy of rows from the host, as km_slice_upload_3d says, which reads `source` each time
 * the graph runs. Memory of the host has to stay valid as for km_graph_add_upload. CUDA:
 * cuGraphAddMemcpyNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `destination`
 *   not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after
 *   its creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice; KM_ERROR_INVALID_ARGUMENT when
 *   `dependencies` is null and `dependency_count` is not 0, names no node of the graph or names one
 *   twice, `copy` or `source` is null, a pitch is less than `width_bytes` or a distance of layers
 *   less than `height`, or `out_node` is null.
 */
KM_API km_status km_graph_add_upload_3d(km_graph graph, const uint64_t* dependencies,
                                        uint64_t dependency_count, km_slice destination,
                                        const void* source, const km_copy_3d* copy,
                                        uint64_t* out_node) KM_NOEXCEPT;

/** Gives a node that is a upload of rows its parameters anew. What is instantiated stays as it was:
 * see km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `destination`
 *   not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after
 *   its creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice; KM_ERROR_INVALID_ARGUMENT when
 *   `node` is no node of the graph of this kind, or `copy` or `source` is null, a pitch is less
 *   than `width_bytes` or a distance of layers less than `height`.
 */
KM_API km_status km_graph_set_upload_3d(km_graph graph, uint64_t node, km_slice destination,
                                        const void* source, const km_copy_3d* copy) KM_NOEXCEPT;

/** Adds a copy of rows to the host, as km_slice_download_3d says, which writes `destination` each
 * time the graph runs. Memory of the host has to stay valid as for km_graph_add_download. CUDA:
 * cuGraphAddMemcpyNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `source` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice; KM_ERROR_INVALID_ARGUMENT when
 *   `dependencies` is null and `dependency_count` is not 0, names no node of the graph or names one
 *   twice, `copy` or `destination` is null, a pitch is less than `width_bytes` or a distance of
 *   layers less than `height`, or `out_node` is null.
 */
KM_API km_status km_graph_add_download_3d(km_graph graph, const uint64_t* dependencies,
                                          uint64_t dependency_count, km_slice source,
                                          void* destination, const km_copy_3d* copy,
                                          uint64_t* out_node) KM_NOEXCEPT;

/** Gives a node that is a download of rows its parameters anew. What is instantiated stays as it
 * was: see km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `source` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice; KM_ERROR_INVALID_ARGUMENT when
 *   `node` is no node of the graph of this kind, or `copy` or `destination` is null, a pitch is
 *   less than `width_bytes` or a distance of layers less than `height`.
 */
KM_API km_status km_graph_set_download_3d(km_graph graph, uint64_t node, km_slice source,
                                          void* destination, const km_copy_3d* copy) KM_NOEXCEPT;

/** Adds a fill of rows, as km_slice_fill_2d says. CUDA: cuGraphAddMemsetNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `slice` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice; KM_ERROR_INVALID_ARGUMENT when
 *   `dependencies` is null and `dependency_count` is not 0, names no node of the graph or names one
 *   twice, `value_size_bytes` is not 1, 2 or 4, the first address is not a multiple of it, the
 *   pitch is less than a row or not a multiple of it, or `out_node` is null.
 */
KM_API km_status km_graph_add_fill_2d(km_graph graph, const uint64_t* dependencies,
                                      uint64_t dependency_count, km_slice slice,
                                      uint64_t offset_bytes, uint64_t pitch_bytes, uint32_t value,
                                      uint32_t value_size_bytes, uint64_t width_count,
                                      uint64_t height, uint64_t* out_node) KM_NOEXCEPT;

/** Gives a node that is a fill of rows its parameters anew. What is instantiated stays as it was:
 * see km_graph_exec_update_node. CUDA: cuGraphMemsetNodeSetParams.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `slice` not a
 *   live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_OUT_OF_BOUNDS when a row does not lie inside the slice; KM_ERROR_INVALID_ARGUMENT when
 *   `node` is no node of the graph of this kind, or `value_size_bytes` is not 1, 2 or 4, the first
 *   address is not a multiple of it, the pitch is less than a row or not a multiple of it.
 */
KM_API km_status km_graph_set_fill_2d(km_graph graph, uint64_t node, km_slice slice,
                                      uint64_t offset_bytes, uint64_t pitch_bytes, uint32_t value,
                                      uint32_t value_size_bytes, uint64_t width_count,
                                      uint64_t height) KM_NOEXCEPT;

/** Adds a copy between slices that may belong to different contexts and devices of one backend, as
 * km_slice_copy_peer says. CUDA: cuGraphAddMemcpyNode.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `destination` or
 *   `source` not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was
 *   reset after its creation; KM_ERROR_NOT_SUPPORTED when the contexts are of different backends;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside both slices; KM_ERROR_INVALID_ARGUMENT
 *   when `dependencies` is null and `dependency_count` is not 0, names no node of the graph or
 *   names one twice, source and destination overlap without being the same, or `out_node` is null.
 */
KM_API km_status km_graph_add_copy_peer(km_graph graph, const uint64_t* dependencies,
                                        uint64_t dependency_count, km_slice destination,
                                        uint64_t destination_offset_bytes, km_slice source,
                                        uint64_t source_offset_bytes, uint64_t size_bytes,
                                        uint64_t* out_node) KM_NOEXCEPT;

/** Gives a node that is a copy between contexts its parameters anew. What is instantiated stays as
 * it was: see km_graph_exec_update_node. CUDA: cuGraphMemcpyNodeSetParams.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph, or `destination` or
 *   `source` not a live slice; KM_ERROR_CONTEXT_LOST when the context of one of the objects was
 *   reset after its creation; KM_ERROR_NOT_SUPPORTED when the contexts are of different backends;
 *   KM_ERROR_OUT_OF_BOUNDS when the bytes do not lie inside both slices; KM_ERROR_INVALID_ARGUMENT
 *   when `node` is no node of the graph of this kind, or source and destination overlap without
 *   being the same.
 */
KM_API km_status km_graph_set_copy_peer(km_graph graph, uint64_t node, km_slice destination,
                                        uint64_t destination_offset_bytes, km_slice source,
                                        uint64_t source_offset_bytes,
                                        uint64_t size_bytes) KM_NOEXCEPT;

/** The rows of a node that is a copy or fill of rows. Its offsets are 0: destination and source, of
 * km_graph_node_info_get, are those of the first row. A fill has no source. CUDA:
 * cuGraphMemcpyNodeGetParams, cuGraphMemsetNodeGetParams.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is no node of the graph of such a kind, or `out_copy` is
 *   null.
 */
KM_API km_status km_graph_node_rows(km_graph graph, uint64_t node,
                                    km_copy_3d* out_copy) KM_NOEXCEPT;

/** The graph in the DOT language of Graphviz, child graphs as clusters. CUDA: cuGraphDebugDotPrint.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_BUFFER_TOO_SMALL when the text needs more than `capacity_bytes`;
 *   KM_ERROR_INVALID_ARGUMENT when `buffer` is null and `capacity_bytes` is not 0, or when `buffer`
 *   and `out_size_bytes` are both null.
 */
KM_API km_status km_graph_dot(km_graph graph, char* buffer, uint64_t capacity_bytes,
                              uint64_t* out_size_bytes) KM_NOEXCEPT;

/** Makes a graph ready to run as it is now: kernels are compiled, arguments laid out. It keeps all
 * memory, functions and modules that it uses until it is destroyed and its last launch is done. The
 * handle is the caller's, to be given to km_graph_exec_destroy. CUDA: cuGraphInstantiate.
 * Blocking: yes, while kernels are compiled.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `graph` is not a live graph;
 *   KM_ERROR_CONTEXT_LOST when the context of `graph` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `out_exec` is null; KM_ERROR_INVALID_LAUNCH when a kernel cannot
 *   be launched like that, as the message says; KM_ERROR_UNSUPPORTED_PTX when the device cannot run
 *   a kernel in its shape; KM_ERROR_COMPILER when the code generator failed; KM_ERROR_NOT_SUPPORTED
 *   when the backend has no graphs; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_graph_exec_create(km_graph graph, km_graph_exec* out_exec) KM_NOEXCEPT;

/** Drops the caller's handle. Launches under way go on. Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `exec` is neither null nor a live graph exec.
 */
KM_API km_status km_graph_exec_destroy(km_graph_exec exec) KM_NOEXCEPT;

/** Queues one run of the graph in a stream. Launches of one graph exec run one after the other,
 * also in different streams. In a stream that is being captured it becomes a child node. CUDA:
 * cuGraphLaunch.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `exec` is not a live graph exec, or `stream` not
 *   a live stream; KM_ERROR_CONTEXT_LOST when the context of `exec` or `stream` was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts; the sticky
 *   error of the context when a kernel failed.
 */
KM_API km_status km_graph_exec_launch(km_graph_exec exec, km_stream stream) KM_NOEXCEPT;

/** Takes over the parameters that a node has now in `graph`: the graph that was instantiated, or a
 * clone. Launches from now on use them; those before do not. CUDA: cuGraphExecKernelNodeSetParams
 * and its like.
 * Blocking: yes, while a kernel is compiled.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `exec` is not a live graph exec, or `graph` not
 *   a live graph; KM_ERROR_CONTEXT_LOST when the context of `exec` or `graph` was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_INVALID_ARGUMENT when `node` is no node of the graph; KM_ERROR_GRAPH_MISMATCH when
 *   `exec` has no node of this number, or one of another kind or other dependencies;
 *   KM_ERROR_INVALID_LAUNCH when a kernel cannot be launched like that, as the message says; the
 *   sticky error of the context when a kernel failed.
 */
KM_API km_status km_graph_exec_update_node(km_graph_exec exec, km_graph graph,
                                           uint64_t node) KM_NOEXCEPT;

/** Takes over the parameters of all nodes of a graph of the same topology: the first node's go to
 * the first node, and so on. Nothing is changed when it fails. CUDA: cuGraphExecUpdate.
 * Blocking: yes, while kernels are compiled.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `exec` is not a live graph exec, or `graph` not
 *   a live graph; KM_ERROR_CONTEXT_LOST when the context of `exec` or `graph` was reset after its
 *   creation; KM_ERROR_CONTEXT_MISMATCH when the objects belong to different contexts;
 *   KM_ERROR_GRAPH_MISMATCH when the topology differs, with the node; km_graph_exec_compare tells
 *   it too; KM_ERROR_INVALID_LAUNCH when a kernel cannot be launched like that, as the message
 *   says; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_graph_exec_update(km_graph_exec exec, km_graph graph) KM_NOEXCEPT;

/** Tells if km_graph_exec_update can take a graph over, and the first node of `graph` that speaks
 * against it; 0 if there is none.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `exec` is not a live graph exec, or `graph` not
 *   a live graph; KM_ERROR_CONTEXT_LOST when the context of `exec` or `graph` was reset after its
 *   creation; KM_ERROR_INVALID_ARGUMENT when `out_difference` or `out_node` is null.
 */
KM_API km_status km_graph_exec_compare(km_graph_exec exec, km_graph graph,
                                       km_graph_difference* out_difference,
                                       uint64_t* out_node) KM_NOEXCEPT;

/* Profiles: what ran when, and for how long. docs/guide/profiling.md. */

/** Records from now on what the context does: kernels, copies, fills and callbacks with their times
 * on the device, the host's ranges and waits, and the memory in use. Starting twice is fine.
 * `KM_TRACE` does it for all contexts of a program. CUDA: cuProfilerStart; times by events around
 * each operation.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_NOT_SUPPORTED when the backend takes no times.
 */
KM_API km_status km_profiler_start(km_context context) KM_NOEXCEPT;

/** Stops recording. What was recorded stays. CUDA: cuProfilerStop.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context.
 */
KM_API km_status km_profiler_stop(km_context context) KM_NOEXCEPT;

/** Forgets what was recorded.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context.
 */
KM_API km_status km_profiler_clear(km_context context) KM_NOEXCEPT;

/** Begins a range of the calling thread, up to km_profiler_range_pop; ranges nest. Outside of a
 * recording it does nothing that is kept. CUDA: nvtxRangePush.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `name` is null.
 */
KM_API km_status km_profiler_range_push(km_context context, const char* name) KM_NOEXCEPT;

/** Ends the range of the calling thread that began last. CUDA: nvtxRangePop.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_NOT_FOUND when this thread has no open range of the context.
 */
KM_API km_status km_profiler_range_pop(km_context context) KM_NOEXCEPT;

/** Begins a range that any thread may end, by the number that it gives. CUDA: nvtxRangeStart.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `name` or `out_range` is null.
 */
KM_API km_status km_profiler_range_start(km_context context, const char* name,
                                         uint64_t* out_range) KM_NOEXCEPT;

/** Ends a range; it counts for the thread that ends it. CUDA: nvtxRangeEnd.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_NOT_FOUND when there is no open range of this number.
 */
KM_API km_status km_profiler_range_end(km_context context, uint64_t range) KM_NOEXCEPT;

/** Says what each launch of a kernel counts as from now on: so many operations and so many bytes of
 * memory traffic. Throughputs follow from it.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `function` is not a live function;
 *   KM_ERROR_CONTEXT_LOST when the context of `function` was reset after its creation.
 */
KM_API km_status km_profiler_set_work(km_function function, uint64_t operations,
                                      uint64_t size_bytes) KM_NOEXCEPT;

/** How many kinds of work with different names were recorded and are over by now: synchronise first
 * to have all. The rows change while work goes on.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `out_count` is null.
 */
KM_API km_status km_profiler_row_count(km_context context, uint32_t* out_count) KM_NOEXCEPT;

/** One row, from 0: work of the device by falling total time, then ranges and waits of the host.
 * Set `out_row->struct_size` first.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `index` is not below km_profiler_row_count, `out_row` is null or
 *   its struct_size is below 4.
 */
KM_API km_status km_profiler_row_get(km_context context, uint32_t index,
                                     km_profile_row* out_row) KM_NOEXCEPT;

/** The rows as a table in text.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_BUFFER_TOO_SMALL when the text needs more than `capacity_bytes`;
 *   KM_ERROR_INVALID_ARGUMENT when `buffer` is null and `capacity_bytes` is not 0, or when `buffer`
 *   and `out_size_bytes` are both null.
 */
KM_API km_status km_profiler_summary(km_context context, char* buffer, uint64_t capacity_bytes,
                                     uint64_t* out_size_bytes) KM_NOEXCEPT;

/** Writes what was recorded to a file, in place of what it holds: a trace in Chrome's format, which
 * ui.perfetto.dev and chrome://tracing open, with a track for each stream and each thread of the
 * host, and the memory in use; or, when the name ends with .html, a report of tables and plots that
 * needs nothing else. A trace holds the first million of events, the table all.
 * Blocking: while the file is written.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `context` is not a live context;
 *   KM_ERROR_INVALID_ARGUMENT when `path` is null or empty; KM_ERROR_IO when the file cannot be
 *   written, with the reason.
 */
KM_API km_status km_profiler_write(km_context context, const char* path) KM_NOEXCEPT;

/* BLAS. Every call joins the stream of its object and returns at once; what it uses is kept until
 * it is done. `type` is the type of the elements; f16 and bf16 are for km_blas_gemm and its
 * batches. Scalars (`alpha` and the like) are read from the host's memory before the call returns,
 * and are of `type`, where nothing else is said; results of reductions go to device memory, like
 * everything else. Vectors with a negative increment begin at their end, as in BLAS. Sizes of 0 do
 * what BLAS says: nothing, for most. A `beta` of 0 overwrites, and does not read what was there.
 * Arrays that are written may lie in the same slice as others, with elements in between, but share
 * none with them. Captured, a call becomes a node of the graph. docs/guide/blas.md says which
 * library runs. Beside the statuses listed, a call that takes arrays can return
 * KM_ERROR_INVALID_HANDLE when `blas` is not a live BLAS object, or the `slice` of an array neither
 * 0 nor a live slice;
 * KM_ERROR_CONTEXT_LOST when the context of `blas` or of a slice was reset after its creation;
 * KM_ERROR_OUT_OF_BOUNDS when an array reaches beyond its slice or allocation;
 * KM_ERROR_CONTEXT_MISMATCH when a slice belongs to another context without peer access;
 * KM_ERROR_NOT_PERMITTED when an array that is written lies in a file mapped read-only;
 * KM_ERROR_BLAS_UNAVAILABLE when the BLAS library is missing, with what to install; and the sticky
 * error of the context when a kernel failed. */

/** An object for BLAS calls in a stream, which stays alive with it. `layout` holds for all matrices
 * of all its calls. The handle is the caller's, to be given to km_blas_destroy. CUDA: cublasCreate,
 * cublasSetStream.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `stream` is not a live stream;
 *   KM_ERROR_CONTEXT_LOST when the context of `stream` was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `layout` is no layout or `out_blas` is null;
 *   KM_ERROR_NOT_SUPPORTED when the backend has no BLAS; the sticky error of the context when a
 *   kernel failed.
 */
KM_API km_status km_blas_create(km_stream stream, km_blas_layout layout,
                                km_blas* out_blas) KM_NOEXCEPT;

/** Drops the caller's handle. Calls that are queued go on. Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `blas` is neither null nor a live BLAS object.
 */
KM_API km_status km_blas_destroy(km_blas blas) KM_NOEXCEPT;

/** y = alpha x + y. CUDA: cublas<t>axpy.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is no value of its kind that the
 *   routine takes, `alpha`, `x` or `y` is null, `n` is beyond 2^31 - 1, an increment is 0 or beyond
 *   2^31 - 1, an address is no multiple of a number's size, or an array that is written overlaps
 *   another; those that every BLAS call has.
 */
KM_API km_status km_blas_axpy(km_blas blas, km_data_type type, uint64_t n, const void* alpha,
                              const km_blas_vector* x, const km_blas_vector* y) KM_NOEXCEPT;

/** x = alpha x. CUDA: cublas<t>scal.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is no value of its kind that the
 *   routine takes, `alpha` or `x` is null, `n` is beyond 2^31 - 1, an increment is 0 or beyond
 *   2^31 - 1, or an address is no multiple of a number's size; those that every BLAS call has.
 */
KM_API km_status km_blas_scal(km_blas blas, km_data_type type, uint64_t n, const void* alpha,
                              const km_blas_vector* x) KM_NOEXCEPT;

/** y = x. CUDA: cublas<t>copy.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is no value of its kind that the
 *   routine takes, `x` or `y` is null, `n` is beyond 2^31 - 1, an increment is 0 or beyond 2^31 -
 *   1, an address is no multiple of a number's size, or an array that is written overlaps another;
 *   those that every BLAS call has.
 */
KM_API km_status km_blas_copy(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                              const km_blas_vector* y) KM_NOEXCEPT;

/** Exchanges x and y. CUDA: cublas<t>swap.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is no value of its kind that the
 *   routine takes, `x` or `y` is null, `n` is beyond 2^31 - 1, an increment is 0 or beyond 2^31 -
 *   1, an address is no multiple of a number's size, or an array that is written overlaps another;
 *   those that every BLAS call has.
 */
KM_API km_status km_blas_swap(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                              const km_blas_vector* y) KM_NOEXCEPT;

/** result = the sum of x_i y_i: one element of `type`. CUDA: cublas<t>dot, cublas<t>dotu.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is no value of its kind that the
 *   routine takes, `x`, `y` or `result` is null, `n` is beyond 2^31 - 1, an increment is 0 or
 *   beyond 2^31 - 1, an address is no multiple of a number's size, or an array that is written
 *   overlaps another; those that every BLAS call has.
 */
KM_API km_status km_blas_dot(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                             const km_blas_vector* y, const km_blas_vector* result) KM_NOEXCEPT;

/** km_blas_dot with the complex conjugates of x. CUDA: cublas<t>dotc.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is no value of its kind that the
 *   routine takes, `x`, `y` or `result` is null, `n` is beyond 2^31 - 1, an increment is 0 or
 *   beyond 2^31 - 1, an address is no multiple of a number's size, or an array that is written
 *   overlaps another; those that every BLAS call has.
 */
KM_API km_status km_blas_dotc(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                              const km_blas_vector* y, const km_blas_vector* result) KM_NOEXCEPT;

/** result = the Euclidean norm of x: one real element, for c32 an f32, for c64 an f64. CUDA:
 * cublas<t>nrm2.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is no value of its kind that the
 *   routine takes, `x` or `result` is null, `n` is beyond 2^31 - 1, an increment is 0 or beyond
 *   2^31 - 1, an address is no multiple of a number's size, or an array that is written overlaps
 *   another; those that every BLAS call has.
 */
KM_API km_status km_blas_nrm2(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                              const km_blas_vector* result) KM_NOEXCEPT;

/** result = the sum of the magnitudes in x, for complex types those of both parts: one real
 * element. CUDA: cublas<t>asum.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is no value of its kind that the
 *   routine takes, `x` or `result` is null, `n` is beyond 2^31 - 1, an increment is 0 or beyond
 *   2^31 - 1, an address is no multiple of a number's size, or an array that is written overlaps
 *   another; those that every BLAS call has.
 */
KM_API km_status km_blas_asum(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                              const km_blas_vector* result) KM_NOEXCEPT;

/** result = the index, from 0, of the first element of x with the largest magnitude, for complex
 * types the sum of those of both parts: one uint64_t; UINT64_MAX when n is 0. CUDA: cublas<t>iamax,
 * which counts from 1.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is no value of its kind that the
 *   routine takes, `x` or `result` is null, `n` is beyond 2^31 - 1, an increment is 0 or beyond
 *   2^31 - 1, an address is no multiple of a number's size, or an array that is written overlaps
 *   another; those that every BLAS call has.
 */
KM_API km_status km_blas_iamax(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                               const km_blas_vector* result) KM_NOEXCEPT;

/** A plane rotation: x_i = c x_i + s y_i, y_i = c y_i - s x_i. `c` and `s` are real: for c32 f32,
 * for c64 f64. CUDA: cublas<t>rot.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is no value of its kind that the
 *   routine takes, `x`, `y`, `c` or `s` is null, `n` is beyond 2^31 - 1, an increment is 0 or
 *   beyond 2^31 - 1, an address is no multiple of a number's size, or an array that is written
 *   overlaps another; those that every BLAS call has.
 */
KM_API km_status km_blas_rot(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                             const km_blas_vector* y, const void* c, const void* s) KM_NOEXCEPT;

/** A modified plane rotation by the five `parameters` of rotmg: a flag (-2, -1, 0 or 1), h11, h21,
 * h12, h22. Real types only. CUDA: cublas<t>rotm.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is no value of its kind that the
 *   routine takes, `x`, `y` or `parameters` is null, `n` is beyond 2^31 - 1, an increment is 0 or
 *   beyond 2^31 - 1, an address is no multiple of a number's size, or an array that is written
 *   overlaps another; those that every BLAS call has.
 */
KM_API km_status km_blas_rotm(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                              const km_blas_vector* y, const void* parameters) KM_NOEXCEPT;

/** The rotation that turns (a, b) into (r, 0): `c` and `s` for km_blas_rot. r goes to `a`; `b`
 * becomes, for real types, the one number that both can be found from. All are in the host's
 * memory, and of `type`, but for `c`, which is real. They may share memory: `a` and `b` are read
 * before `a`, `b`, `c` and `s` are written, in this order. CUDA: cublas<t>rotg.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is not f32, f64, c32 or c64, or a
 *   pointer is null.
 */
KM_API km_status km_blas_rotg(km_data_type type, void* a, void* b, void* c, void* s) KM_NOEXCEPT;

/** The five `parameters` of km_blas_rotm that turn (sqrt(d1) x1, sqrt(d2) y1) so that the second
 * number becomes 0; `d1`, `d2` and `x1` become those of the result. Entries that the flag implies
 * are left as they are. All are in the host's memory and may share it: they are read before `d1`,
 * `d2`, `x1` and `parameters` are written, in this order. CUDA: cublas<t>rotmg.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is neither f32 nor f64, or a pointer is
 *   null.
 */
KM_API km_status km_blas_rotmg(km_data_type type, void* d1, void* d2, void* x1, const void* y1,
                               void* parameters) KM_NOEXCEPT;

/** y = alpha op(A) x + beta y. A is m x n. CUDA: cublas<t>gemv.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` or `operation` is no value of its kind
 *   that the routine takes, `alpha`, `a`, `x`, `beta` or `y` is null, `m` or `n` is beyond 2^31 -
 *   1, an increment is 0 or beyond 2^31 - 1, a leading dimension is less than a line or beyond
 *   2^31 - 1, an address is no multiple of a number's size, or an array that is written overlaps
 *   another; those that every BLAS call has.
 */
KM_API km_status km_blas_gemv(km_blas blas, km_data_type type, km_blas_operation operation,
                              uint64_t m, uint64_t n, const void* alpha, const km_blas_matrix* a,
                              const km_blas_vector* x, const void* beta,
                              const km_blas_vector* y) KM_NOEXCEPT;

/** km_blas_gemv for a band matrix: m x n with `lower` diagonals below the main one and `upper`
 * above. In memory, line j (a column, or a row when stored by rows) has lower + upper + 1 elements,
 * the main diagonal's at `upper` (by rows: at `lower`). CUDA: cublas<t>gbmv.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` or `operation` is no value of its kind
 *   that the routine takes, `alpha`, `a`, `x`, `beta` or `y` is null, `m`, `n`, `lower` or `upper`
 *   is beyond 2^31 - 1, an increment is 0 or beyond 2^31 - 1, a leading dimension is less than a
 *   line or beyond 2^31 - 1, an address is no multiple of a number's size, or an array that is
 *   written overlaps another; those that every BLAS call has.
 */
KM_API km_status km_blas_gbmv(km_blas blas, km_data_type type, km_blas_operation operation,
                              uint64_t m, uint64_t n, uint64_t lower, uint64_t upper,
                              const void* alpha, const km_blas_matrix* a, const km_blas_vector* x,
                              const void* beta, const km_blas_vector* y) KM_NOEXCEPT;

/** y = alpha A x + beta y for an n x n matrix that is symmetric or, for complex types, Hermitian,
 * and of which one triangle is read. CUDA: cublas<t>symv, cublas<t>hemv.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` or `triangle` is no value of its kind
 *   that the routine takes, `alpha`, `a`, `x`, `beta` or `y` is null, `n` is beyond 2^31 - 1, an
 *   increment is 0 or beyond 2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1,
 *   an address is no multiple of a number's size, or an array that is written overlaps another;
 *   those that every BLAS call has.
 */
KM_API km_status km_blas_symv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              uint64_t n, const void* alpha, const km_blas_matrix* a,
                              const km_blas_vector* x, const void* beta,
                              const km_blas_vector* y) KM_NOEXCEPT;

/** km_blas_symv for a band matrix with k diagonals beside the main one, in k + 1 elements a line.
 * CUDA: cublas<t>sbmv, cublas<t>hbmv.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` or `triangle` is no value of its kind
 *   that the routine takes, `alpha`, `a`, `x`, `beta` or `y` is null, `n` or `k` is beyond 2^31 -
 *   1, an increment is 0 or beyond 2^31 - 1, a leading dimension is less than a line or beyond
 *   2^31 - 1, an address is no multiple of a number's size, or an array that is written overlaps
 *   another; those that every BLAS call has.
 */
KM_API km_status km_blas_sbmv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              uint64_t n, uint64_t k, const void* alpha, const km_blas_matrix* a,
                              const km_blas_vector* x, const void* beta,
                              const km_blas_vector* y) KM_NOEXCEPT;

/** km_blas_symv for a packed triangle, whose n (n + 1) / 2 elements lie one after the other. CUDA:
 * cublas<t>spmv, cublas<t>hpmv.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` or `triangle` is no value of its kind
 *   that the routine takes, `alpha`, `a`, `x`, `beta` or `y` is null, `n` is beyond 2^31 - 1, an
 *   increment is 0 or beyond 2^31 - 1, an address is no multiple of a number's size, or an array
 *   that is written overlaps another; those that every BLAS call has.
 */
KM_API km_status km_blas_spmv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              uint64_t n, const void* alpha, const km_blas_matrix* a,
                              const km_blas_vector* x, const void* beta,
                              const km_blas_vector* y) KM_NOEXCEPT;

/** x = op(A) x for an n x n triangular matrix. CUDA: cublas<t>trmv.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `triangle`, `operation` or `diagonal`
 *   is no value of its kind that the routine takes, `a` or `x` is null, `n` is beyond 2^31 - 1, an
 *   increment is 0 or beyond 2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1,
 *   an address is no multiple of a number's size, or an array that is written overlaps another;
 *   those that every BLAS call has.
 */
KM_API km_status km_blas_trmv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                              const km_blas_matrix* a, const km_blas_vector* x) KM_NOEXCEPT;

/** km_blas_trmv for a triangular band matrix with k diagonals beside the main one. CUDA:
 * cublas<t>tbmv.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `triangle`, `operation` or `diagonal`
 *   is no value of its kind that the routine takes, `a` or `x` is null, `n` or `k` is beyond 2^31 -
 *   1, an increment is 0 or beyond 2^31 - 1, a leading dimension is less than a line or beyond
 *   2^31 - 1, an address is no multiple of a number's size, or an array that is written overlaps
 *   another; those that every BLAS call has.
 */
KM_API km_status km_blas_tbmv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                              uint64_t k, const km_blas_matrix* a,
                              const km_blas_vector* x) KM_NOEXCEPT;

/** km_blas_trmv for a packed triangle. CUDA: cublas<t>tpmv.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `triangle`, `operation` or `diagonal`
 *   is no value of its kind that the routine takes, `a` or `x` is null, `n` is beyond 2^31 - 1, an
 *   increment is 0 or beyond 2^31 - 1, an address is no multiple of a number's size, or an array
 *   that is written overlaps another; those that every BLAS call has.
 */
KM_API km_status km_blas_tpmv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                              const km_blas_matrix* a, const km_blas_vector* x) KM_NOEXCEPT;

/** Solves op(A) z = x and puts z into x, for an n x n triangular matrix. There is no test for a
 * singular one. CUDA: cublas<t>trsv.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `triangle`, `operation` or `diagonal`
 *   is no value of its kind that the routine takes, `a` or `x` is null, `n` is beyond 2^31 - 1, an
 *   increment is 0 or beyond 2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1,
 *   an address is no multiple of a number's size, or an array that is written overlaps another;
 *   those that every BLAS call has.
 */
KM_API km_status km_blas_trsv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                              const km_blas_matrix* a, const km_blas_vector* x) KM_NOEXCEPT;

/** km_blas_trsv for a triangular band matrix with k diagonals beside the main one. CUDA:
 * cublas<t>tbsv.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `triangle`, `operation` or `diagonal`
 *   is no value of its kind that the routine takes, `a` or `x` is null, `n` or `k` is beyond 2^31 -
 *   1, an increment is 0 or beyond 2^31 - 1, a leading dimension is less than a line or beyond
 *   2^31 - 1, an address is no multiple of a number's size, or an array that is written overlaps
 *   another; those that every BLAS call has.
 */
KM_API km_status km_blas_tbsv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                              uint64_t k, const km_blas_matrix* a,
                              const km_blas_vector* x) KM_NOEXCEPT;

/** km_blas_trsv for a packed triangle. CUDA: cublas<t>tpsv.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `triangle`, `operation` or `diagonal`
 *   is no value of its kind that the routine takes, `a` or `x` is null, `n` is beyond 2^31 - 1, an
 *   increment is 0 or beyond 2^31 - 1, an address is no multiple of a number's size, or an array
 *   that is written overlaps another; those that every BLAS call has.
 */
KM_API km_status km_blas_tpsv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                              const km_blas_matrix* a, const km_blas_vector* x) KM_NOEXCEPT;

/** A = alpha x y^T + A. A is m x n. CUDA: cublas<t>ger, cublas<t>geru.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is no value of its kind that the
 *   routine takes, `alpha`, `x`, `y` or `a` is null, `m` or `n` is beyond 2^31 - 1, an increment is
 *   0 or beyond 2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1, an address is
 *   no multiple of a number's size, or an array that is written overlaps another; those that every
 *   BLAS call has.
 */
KM_API km_status km_blas_ger(km_blas blas, km_data_type type, uint64_t m, uint64_t n,
                             const void* alpha, const km_blas_vector* x, const km_blas_vector* y,
                             const km_blas_matrix* a) KM_NOEXCEPT;

/** A = alpha x y^H + A: the same with the complex conjugates of y. CUDA: cublas<t>gerc.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` is no value of its kind that the
 *   routine takes, `alpha`, `x`, `y` or `a` is null, `m` or `n` is beyond 2^31 - 1, an increment is
 *   0 or beyond 2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1, an address is
 *   no multiple of a number's size, or an array that is written overlaps another; those that every
 *   BLAS call has.
 */
KM_API km_status km_blas_gerc(km_blas blas, km_data_type type, uint64_t m, uint64_t n,
                              const void* alpha, const km_blas_vector* x, const km_blas_vector* y,
                              const km_blas_matrix* a) KM_NOEXCEPT;

/** A = alpha x x^T + A, of which one triangle is read and written; for complex types A = alpha x
 * x^H + A with a real `alpha` (f32 or f64). CUDA: cublas<t>syr, cublas<t>her.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` or `triangle` is no value of its kind
 *   that the routine takes, `alpha`, `x` or `a` is null, `n` is beyond 2^31 - 1, an increment is 0
 *   or beyond 2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1, an address is
 *   no multiple of a number's size, or an array that is written overlaps another; those that every
 *   BLAS call has.
 */
KM_API km_status km_blas_syr(km_blas blas, km_data_type type, km_blas_triangle triangle, uint64_t n,
                             const void* alpha, const km_blas_vector* x,
                             const km_blas_matrix* a) KM_NOEXCEPT;

/** A = alpha x y^T + alpha y x^T + A in one triangle; for complex types A = alpha x y^H +
 * conj(alpha) y x^H + A. CUDA: cublas<t>syr2, cublas<t>her2.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` or `triangle` is no value of its kind
 *   that the routine takes, `alpha`, `x`, `y` or `a` is null, `n` is beyond 2^31 - 1, an increment
 *   is 0 or beyond 2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1, an address
 *   is no multiple of a number's size, or an array that is written overlaps another; those that
 *   every BLAS call has.
 */
KM_API km_status km_blas_syr2(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              uint64_t n, const void* alpha, const km_blas_vector* x,
                              const km_blas_vector* y, const km_blas_matrix* a) KM_NOEXCEPT;

/** km_blas_syr for a packed triangle. CUDA: cublas<t>spr, cublas<t>hpr.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` or `triangle` is no value of its kind
 *   that the routine takes, `alpha`, `x` or `a` is null, `n` is beyond 2^31 - 1, an increment is 0
 *   or beyond 2^31 - 1, an address is no multiple of a number's size, or an array that is written
 *   overlaps another; those that every BLAS call has.
 */
KM_API km_status km_blas_spr(km_blas blas, km_data_type type, km_blas_triangle triangle, uint64_t n,
                             const void* alpha, const km_blas_vector* x,
                             const km_blas_matrix* a) KM_NOEXCEPT;

/** km_blas_syr2 for a packed triangle. CUDA: cublas<t>spr2, cublas<t>hpr2.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type` or `triangle` is no value of its kind
 *   that the routine takes, `alpha`, `x`, `y` or `a` is null, `n` is beyond 2^31 - 1, an increment
 *   is 0 or beyond 2^31 - 1, an address is no multiple of a number's size, or an array that is
 *   written overlaps another; those that every BLAS call has.
 */
KM_API km_status km_blas_spr2(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              uint64_t n, const void* alpha, const km_blas_vector* x,
                              const km_blas_vector* y, const km_blas_matrix* a) KM_NOEXCEPT;

/** C = alpha op(A) op(B) + beta C. C is m x n, op(A) m x k, op(B) k x n. f16 and bf16 are
 * multiplied and added in f32, `alpha` and `beta` are f32, and each element is rounded once. CUDA:
 * cublas<t>gemm, cublasGemmEx.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `operation_a` or `operation_b` is no
 *   value of its kind that the routine takes, `alpha`, `a`, `b`, `beta` or `c` is null, `m`, `n` or
 *   `k` is beyond 2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1, an address
 *   is no multiple of a number's size, or an array that is written overlaps another; those that
 *   every BLAS call has.
 */
KM_API km_status km_blas_gemm(km_blas blas, km_data_type type, km_blas_operation operation_a,
                              km_blas_operation operation_b, uint64_t m, uint64_t n, uint64_t k,
                              const void* alpha, const km_blas_matrix* a, const km_blas_matrix* b,
                              const void* beta, const km_blas_matrix* c) KM_NOEXCEPT;

/** km_blas_gemm for `batch_count` matrices each, from one to the next `stride` elements further. A
 * stride of 0 uses the same A or B for all. CUDA: cublas<t>gemmStridedBatched,
 * cublasGemmStridedBatchedEx.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `operation_a` or `operation_b` is no
 *   value of its kind that the routine takes, `alpha`, `a`, `b`, `beta` or `c` is null, `m`, `n`,
 *   `k` or `batch_count` is beyond 2^31 - 1, a leading dimension is less than a line or beyond
 *   2^31 - 1, an address is no multiple of a number's size, or an array that is written overlaps
 *   another; those that every BLAS call has.
 */
KM_API km_status km_blas_gemm_strided_batched(km_blas blas, km_data_type type,
                                              km_blas_operation operation_a,
                                              km_blas_operation operation_b, uint64_t m, uint64_t n,
                                              uint64_t k, const void* alpha,
                                              const km_blas_matrix* a, const km_blas_matrix* b,
                                              const void* beta, const km_blas_matrix* c,
                                              uint64_t batch_count) KM_NOEXCEPT;

/** C = alpha A B + beta C, or with the side right alpha B A + beta C, for a symmetric A of which
 * one triangle is read. B and C are m x n. CUDA: cublas<t>symm.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `side` or `triangle` is no value of
 *   its kind that the routine takes, `alpha`, `a`, `b`, `beta` or `c` is null, `m` or `n` is beyond
 *   2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1, an address is no multiple
 *   of a number's size, or an array that is written overlaps another; those that every BLAS call
 *   has.
 */
KM_API km_status km_blas_symm(km_blas blas, km_data_type type, km_blas_side side,
                              km_blas_triangle triangle, uint64_t m, uint64_t n, const void* alpha,
                              const km_blas_matrix* a, const km_blas_matrix* b, const void* beta,
                              const km_blas_matrix* c) KM_NOEXCEPT;

/** km_blas_symm for a Hermitian A; for real types it is km_blas_symm. CUDA: cublas<t>hemm.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `side` or `triangle` is no value of
 *   its kind that the routine takes, `alpha`, `a`, `b`, `beta` or `c` is null, `m` or `n` is beyond
 *   2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1, an address is no multiple
 *   of a number's size, or an array that is written overlaps another; those that every BLAS call
 *   has.
 */
KM_API km_status km_blas_hemm(km_blas blas, km_data_type type, km_blas_side side,
                              km_blas_triangle triangle, uint64_t m, uint64_t n, const void* alpha,
                              const km_blas_matrix* a, const km_blas_matrix* b, const void* beta,
                              const km_blas_matrix* c) KM_NOEXCEPT;

/** C = alpha A A^T + beta C, or with a transposition alpha A^T A + beta C, in one triangle of C. C
 * is n x n, A n x k or k x n. CUDA: cublas<t>syrk.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `triangle` or `operation` is no value
 *   of its kind that the routine takes, `alpha`, `a`, `beta` or `c` is null, `n` or `k` is beyond
 *   2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1, an address is no multiple
 *   of a number's size, or an array that is written overlaps another; those that every BLAS call
 *   has.
 */
KM_API km_status km_blas_syrk(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, uint64_t n, uint64_t k,
                              const void* alpha, const km_blas_matrix* a, const void* beta,
                              const km_blas_matrix* c) KM_NOEXCEPT;

/** C = alpha A A^H + beta C, or with a conjugate transposition alpha A^H A + beta C, in one
 * triangle; `alpha` and `beta` are real. For real types it is km_blas_syrk. CUDA: cublas<t>herk.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `triangle` or `operation` is no value
 *   of its kind that the routine takes, `alpha`, `a`, `beta` or `c` is null, `n` or `k` is beyond
 *   2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1, an address is no multiple
 *   of a number's size, or an array that is written overlaps another; those that every BLAS call
 *   has.
 */
KM_API km_status km_blas_herk(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, uint64_t n, uint64_t k,
                              const void* alpha, const km_blas_matrix* a, const void* beta,
                              const km_blas_matrix* c) KM_NOEXCEPT;

/** C = alpha A B^T + alpha B A^T + beta C, or with a transposition alpha A^T B + alpha B^T A + beta
 * C, in one triangle. CUDA: cublas<t>syr2k.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `triangle` or `operation` is no value
 *   of its kind that the routine takes, `alpha`, `a`, `b`, `beta` or `c` is null, `n` or `k` is
 *   beyond 2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1, an address is no
 *   multiple of a number's size, or an array that is written overlaps another; those that every
 *   BLAS call has.
 */
KM_API km_status km_blas_syr2k(km_blas blas, km_data_type type, km_blas_triangle triangle,
                               km_blas_operation operation, uint64_t n, uint64_t k,
                               const void* alpha, const km_blas_matrix* a, const km_blas_matrix* b,
                               const void* beta, const km_blas_matrix* c) KM_NOEXCEPT;

/** C = alpha A B^H + conj(alpha) B A^H + beta C, or with a conjugate transposition alpha A^H B +
 * conj(alpha) B^H A + beta C, in one triangle; `beta` is real. For real types it is km_blas_syr2k.
 * CUDA: cublas<t>her2k.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `triangle` or `operation` is no value
 *   of its kind that the routine takes, `alpha`, `a`, `b`, `beta` or `c` is null, `n` or `k` is
 *   beyond 2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1, an address is no
 *   multiple of a number's size, or an array that is written overlaps another; those that every
 *   BLAS call has.
 */
KM_API km_status km_blas_her2k(km_blas blas, km_data_type type, km_blas_triangle triangle,
                               km_blas_operation operation, uint64_t n, uint64_t k,
                               const void* alpha, const km_blas_matrix* a, const km_blas_matrix* b,
                               const void* beta, const km_blas_matrix* c) KM_NOEXCEPT;

/** B = alpha op(A) B, or with the side right alpha B op(A), for a triangular A. B is m x n. CUDA:
 * cublas<t>trmm, in place.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `side`, `triangle`, `operation` or
 *   `diagonal` is no value of its kind that the routine takes, `alpha`, `a` or `b` is null, `m` or
 *   `n` is beyond 2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1, an address
 *   is no multiple of a number's size, or an array that is written overlaps another; those that
 *   every BLAS call has.
 */
KM_API km_status km_blas_trmm(km_blas blas, km_data_type type, km_blas_side side,
                              km_blas_triangle triangle, km_blas_operation operation,
                              km_blas_diagonal diagonal, uint64_t m, uint64_t n, const void* alpha,
                              const km_blas_matrix* a, const km_blas_matrix* b) KM_NOEXCEPT;

/** Solves op(A) X = alpha B, or with the side right X op(A) = alpha B, and puts X into B, for a
 * triangular A. There is no test for a singular one. CUDA: cublas<t>trsm.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_ARGUMENT when `type`, `side`, `triangle`, `operation` or
 *   `diagonal` is no value of its kind that the routine takes, `alpha`, `a` or `b` is null, `m` or
 *   `n` is beyond 2^31 - 1, a leading dimension is less than a line or beyond 2^31 - 1, an address
 *   is no multiple of a number's size, or an array that is written overlaps another; those that
 *   every BLAS call has.
 */
KM_API km_status km_blas_trsm(km_blas blas, km_data_type type, km_blas_side side,
                              km_blas_triangle triangle, km_blas_operation operation,
                              km_blas_diagonal diagonal, uint64_t m, uint64_t n, const void* alpha,
                              const km_blas_matrix* a, const km_blas_matrix* b) KM_NOEXCEPT;

/* Tuning: which of several ways to launch a kernel is the fastest on a device, by measurement. */

/** A tuning of one kernel of a source, CUDA C++ or PTX, on a device; `kernel` is its name in the
 * source, or a name expression like "scale<float>". `source_size_bytes` 0: up to its closing zero.
 * The handle is the caller's, to be given to km_tune_destroy.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `device` is not a live device;
 *   KM_ERROR_INVALID_ARGUMENT when `source`, `kernel` or `out_tune` is null.
 */
KM_API km_status km_tune_create(km_device device, const char* source, uint64_t source_size_bytes,
                                const char* kernel, km_tune* out_tune) KM_NOEXCEPT;

/** Drops the caller's handle. Null is fine.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `tune` is neither null nor a live tuning.
 */
KM_API km_status km_tune_destroy(km_tune tune) KM_NOEXCEPT;

/** One more way to launch the kernel: its grid, block and dynamic shared memory, and options of the
 * compiler, one a line ("-DTILE=16"; null: none), which PTX does not have. Numbers count
 * from 0. Nothing is tried before km_tune_run.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `tune` is not a live tuning;
 *   KM_ERROR_INVALID_ARGUMENT when `config` or `out_candidate` is null; KM_ERROR_NOT_PERMITTED
 *   while km_tune_run runs.
 */
KM_API km_status km_tune_add_candidate(km_tune tune, const km_launch_config* config,
                                       const char* options, uint32_t* out_candidate) KM_NOEXCEPT;

/** The kernel's next argument: device memory of this size that holds `data` (null: zeros) when a
 * candidate starts. The data is copied. KM_TUNE_BUFFER_OUTPUT: km_tune_set_check compares it.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `tune` is not a live tuning;
 *   KM_ERROR_INVALID_ARGUMENT when `flags` has unknown bits; KM_ERROR_NOT_PERMITTED while
 *   km_tune_run runs.
 */
KM_API km_status km_tune_add_buffer(km_tune tune, const void* data, uint64_t size_bytes,
                                    km_tune_buffer_flags flags) KM_NOEXCEPT;

/** The kernel's next argument, by value.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `tune` is not a live tuning;
 *   KM_ERROR_INVALID_ARGUMENT when `value` is null, or `size_bytes` above the 32,764 that all
 *   arguments of a kernel have together; KM_ERROR_NOT_PERMITTED while km_tune_run runs.
 */
KM_API km_status km_tune_add_scalar(km_tune tune, const void* value,
                                    uint64_t size_bytes) KM_NOEXCEPT;

/** Demands that a candidate leaves in the outputs what the first one that ran left there; off at
 * the start. `tolerance` is for floating point: relative to the larger magnitude, absolute below 1.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `tune` is not a live tuning;
 *   KM_ERROR_INVALID_ARGUMENT when `check` is no kind of check or `tolerance` is negative;
 *   KM_ERROR_NOT_PERMITTED while km_tune_run runs.
 */
KM_API km_status km_tune_set_check(km_tune tune, km_tune_check check, double tolerance) KM_NOEXCEPT;

/** How long measuring all candidates may take together, compiling not counted; a second at the
 * start. Each is launched once to check it, `warmup_count` times more (1 at the start), and then at
 * least 5 times, unless it is four times as slow as the best.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `tune` is not a live tuning;
 *   KM_ERROR_NOT_PERMITTED while km_tune_run runs.
 */
KM_API km_status km_tune_set_budget(km_tune tune, uint64_t budget_ns,
                                    uint32_t warmup_count) KM_NOEXCEPT;

/** Has `callback` called after each candidate, on the thread that runs the tuning; null: none.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `tune` is not a live tuning;
 *   KM_ERROR_NOT_PERMITTED while km_tune_run runs.
 */
KM_API km_status km_tune_set_progress(km_tune tune, km_tune_callback callback,
                                      void* user_data) KM_NOEXCEPT;

/** Measures the candidates by events in a context of the tuning's own, and gives the number of the
 * one with the best median. Those that do not compile, cannot be launched, fault or fail the check
 * are left out; km_tune_result_get says why. With a `problem`, any text that stands for the size
 * and kind of the data, the choice is kept on disk (KM_CACHE_DIR) for this device, kernel, source
 * and these candidates, and taken from there the next time without measuring. A kernel that never
 * ends needs KM_KERNEL_TIMEOUT_MS.
 * Blocking: until all candidates are measured.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `tune` is not a live tuning;
 *   KM_ERROR_INVALID_ARGUMENT when `out_candidate` is null, `flags` has unknown bits, or there are
 *   no candidates; KM_ERROR_NOT_PERMITTED when called inside a callback of this library, or while
 *   it runs already; when no candidate works, the status of the first one, with its text.
 */
KM_API km_status km_tune_run(km_tune tune, const char* problem, km_tune_run_flags flags,
                             uint32_t* out_candidate) KM_RUNS_CALLBACKS;

/** The outcome of a candidate the last time that it was measured. Set `out_result->struct_size`
 * first.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `tune` is not a live tuning;
 *   KM_ERROR_INVALID_ARGUMENT when there is no such candidate, `out_result` is null or its
 *   struct_size is below 4; KM_ERROR_NOT_PERMITTED while km_tune_run runs.
 */
KM_API km_status km_tune_result_get(km_tune tune, uint32_t candidate,
                                    km_tune_result* out_result) KM_NOEXCEPT;

/** Why a candidate was left out; empty (size 1) where it was not.
 * Blocking: no.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `tune` is not a live tuning;
 *   KM_ERROR_BUFFER_TOO_SMALL when the text needs more than `capacity_bytes`;
 *   KM_ERROR_INVALID_ARGUMENT when there is no such candidate, `buffer` is null and
 * `capacity_bytes` is not 0, or `buffer` and `out_size_bytes` are both null; KM_ERROR_NOT_PERMITTED
 * while km_tune_run runs.
 */
KM_API km_status km_tune_result_message(km_tune tune, uint32_t candidate, char* buffer,
                                        uint64_t capacity_bytes,
                                        uint64_t* out_size_bytes) KM_NOEXCEPT;

/** The kernel as a candidate has it, compiled with its options, in a context of the caller's. The
 * handle is the caller's, to be given to km_function_destroy.
 * Blocking: while it is compiled.
 * Threads: any.
 * Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when `tune` is not a live tuning, or `context` not a
 *   live context; KM_ERROR_INVALID_ARGUMENT when there is no such candidate, `out_function` is
 * null, or options are given for PTX; KM_ERROR_NOT_PERMITTED while km_tune_run runs;
 * KM_ERROR_NOT_FOUND when the source has no such kernel; what km_program_compile and
 * km_module_load_ptx return when they fail; the sticky error of the context when a kernel failed.
 */
KM_API km_status km_tune_function(km_tune tune, uint32_t candidate, km_context context,
                                  km_function* out_function) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
