/* The table of functions that a backend implements. Core knows nothing else of a backend, and the
 * table is the ABI between libkernelmill.so and a plugin. It is C, so that neither side depends on
 * the other's C++ types.
 *
 * Rules for every entry:
 *  - It returns a km_status; on failure it fills *error (never null) and leaves out-parameters
 *    unchanged.
 *  - Core has validated handles, null pointers, bounds of allocations and argument sizes; the
 *    backend validates what only it knows (block size of a kernel, memory, PTX).
 *  - It is thread-safe unless its comment says otherwise. Objects stay valid while a call on
 *    them runs: core holds references. Entries that enqueue return at once; only entries marked
 *    BLOCKING wait.
 *  - A context that has failed asynchronously is sticky: every entry that allocates, enqueues
 *    or waits returns that status and its full text until context_reset.
 *  - `out_ticket`: every enqueued operation gets its stream's next ticket (1, 2, 3 ...). An
 *    entry that frees memory takes the tickets of the last uses; the backend frees it when all
 *    of them have completed. */
#ifndef KERNELMILL_BACKEND_INTERFACE_H
#define KERNELMILL_BACKEND_INTERFACE_H

#include "kernelmill/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KMB_ABI_MAJOR 1u
#define KMB_ABI_MINOR 0u
#define KMB_WAIT_FOREVER UINT64_MAX

typedef struct kmb_device kmb_device;
typedef struct kmb_context kmb_context;
typedef struct kmb_stream kmb_stream;
typedef struct kmb_event kmb_event;
typedef struct kmb_memory kmb_memory;
typedef struct kmb_module kmb_module;
typedef struct kmb_function kmb_function;
typedef struct kmb_graph kmb_graph;
typedef struct kmb_blas kmb_blas;
typedef struct kmb_fft kmb_fft;
typedef struct kmb_comm kmb_comm;

typedef struct kmb_error {
  int64_t native_code;
  char message[4096]; /* zero-terminated, truncated if longer */
} kmb_error;

/* The services of the library that a backend may use. */
typedef struct kmb_host {
  uint32_t size;
  uint32_t reserved;
  const char* build_id;
  void (*log)(int32_t level, const char* area, const char* text); /* 1 error ... 4 debug */
  /* Points to the current km_set_allocator functions (base/memory/host_allocator.h); a null
   * there means malloc. */
  void* allocator_cell;
  /* True if a callback has begun to end the calling thread (pthread_exit) instead of returning;
   * the call clears that state. A backend asks after each callback on its own threads, and then
   * ends the thread; the callback itself always returns. */
  uint32_t (*take_thread_end)(void);
} kmb_host;

typedef struct kmb_use {
  kmb_stream* stream;
  uint64_t ticket;
} kmb_use;

/* Called at most once, on the caller's thread, before an entry waits for the operation that it
 * queues: with the operation's ticket, or with 0 if a library queues it while the entry waits,
 * so that the ticket is known only at the end. */
typedef struct kmb_queued {
  void (*call)(void* user_data, uint64_t ticket);
  void* user_data;
} kmb_queued;

typedef struct kmb_memory_info {
  uint64_t address;   /* device address */
  void* host_pointer; /* null if the host cannot access it */
  uint64_t size_bytes;
  uint64_t ready_ticket; /* ticket of the stream that it was made on: when it completes, other
                            streams may use the memory; 0: at once */
} kmb_memory_info;

/* Memory backed by a file, which stays open while the memory exists. */
typedef struct kmb_shared_memory {
  int32_t file; /* a descriptor; the backend closes it */
  uint64_t file_size_bytes, offset_bytes;
} kmb_shared_memory;

typedef struct kmb_param {
  km_param_kind kind;
  uint32_t align_bytes;
  uint64_t size_bytes;
  uint64_t offset_bytes;
  km_param_type value_type;
  uint32_t reserved;
} kmb_param;

typedef struct kmb_function_info {
  const char* name; /* valid as long as the module */
  uint32_t param_count;
  uint32_t launches_grids; /* its threads may launch kernels, copies or fills */
  const kmb_param* params; /* valid as long as the module */
  uint64_t param_bytes;    /* size of the argument buffer */
  const char* refusal; /* why the device cannot run it; null: it can; valid as long as the module */
} kmb_function_info;

typedef struct kmb_global_info {
  uint64_t address;
  void* host_pointer;
  uint64_t size_bytes;
  uint32_t element_size_bytes;
  uint32_t is_constant;
} kmb_global_info;

typedef struct kmb_launch {
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t shared_bytes;
  const void* arguments; /* laid out at kmb_param.offset_bytes; copied before the call returns */
  uint64_t arguments_size_bytes;
  uint32_t cluster[3];     /* blocks of a cluster; all 0: the kernel's own size */
  uint32_t is_cooperative; /* its blocks may wait for each other, so all must fit the device */
} kmb_launch;

/* The address space of an address in a kmb_copy_3d. */
enum { KMB_SPACE_DEVICE = 0, KMB_SPACE_HOST = 1, KMB_SPACE_HOST_PINNED = 2 };
typedef struct kmb_copy_3d {
  uint64_t destination, source; /* addresses of the first byte */
  uint32_t destination_space, source_space;
  uint64_t width_bytes, height, depth;
  uint64_t destination_pitch_bytes, destination_layer_rows;
  uint64_t source_pitch_bytes, source_layer_rows;
} kmb_copy_3d;
/* Rows to fill with a repeated value of 1, 2 or 4 bytes. */
typedef struct kmb_fill_2d {
  uint64_t destination, pitch_bytes, width_bytes, height;
  uint32_t value, value_size_bytes;
} kmb_fill_2d;
/* Routines of backend/blas.def. */
typedef enum kmb_blas_routine {
#define KMB_BLAS(routine, s, d, c, z, cublas_s, cublas_d, cublas_c, cublas_z) KMB_BLAS_##routine,
#include "backend/blas.def"
#undef KMB_BLAS
  KMB_BLAS_ROUTINE_COUNT
} kmb_blas_routine;

typedef struct kmb_blas_array {
  uint64_t address; /* address of the first element in memory, even if the increment is negative */
  int64_t step;     /* leading dimension of a matrix (0: packed), increment of a vector */
  uint64_t stride;  /* elements from one matrix of a batch to the next */
} kmb_blas_array;

/* Scalars in device memory, of the call's type (f32 for f16 and bf16), which are read when the
 * call runs; 0: the call has the value. Backends may return KM_ERROR_NOT_SUPPORTED for them. */
typedef struct kmb_blas_device_scalars {
  uint64_t alpha, beta;
  uint64_t rotation[2]; /* c and s; for ROTM the first has the address of all parameters */
  uint32_t has_real_alpha, has_real_beta; /* complex calls only: that scalar is one real number */
  uint32_t is_overwritten;                /* the call's own results overwrite some of them */
  uint32_t reserved;
} kmb_blas_device_scalars;

/* One checked call. Members that the routine does not use are 0. Scalars of f16 and bf16 are
 * f32. cuBLAS has column order only, so a call by rows becomes the transposed problem. */
typedef struct kmb_blas_call {
  kmb_blas_routine routine;
  km_data_type type;
  km_blas_layout layout;
  km_blas_operation operation_a, operation_b;
  km_blas_triangle triangle;
  km_blas_diagonal diagonal;
  km_blas_side side;
  uint64_t m, n, k;      /* for vectors, n is the length */
  uint64_t lower, upper; /* diagonals of a band */
  uint64_t batch_count;
  double alpha[2], beta[2];               /* real and imaginary part */
  double rotation[5];                     /* c and s, or the parameters of ROTM */
  kmb_blas_device_scalars device_scalars; /* these replace the values above */
  kmb_blas_array a, b, c; /* x is b and y is c; results are c, but for DOT x is a and y is b */
} kmb_blas_call;

/* Checked calls of the libraries beside BLAS. Members that a routine does not use are 0. Addresses
 * are those of the first element. */
typedef struct kmb_fft_call {
  kmb_fft* fft;
  km_fft_direction direction;
  uint32_t reserved;
  uint64_t input, output;
} kmb_fft_call;

typedef enum kmb_sparse_routine {
  KMB_SPARSE_MV = 1,
  KMB_SPARSE_MM = 2,
  KMB_SPARSE_SV = 3,
  KMB_SPARSE_SM = 4
} kmb_sparse_routine;
typedef struct kmb_sparse_call {
  kmb_blas* blas;
  kmb_sparse_routine routine;
  km_data_type type;
  km_blas_layout layout;
  km_blas_operation operation_a, operation_b;
  km_blas_triangle triangle;
  km_blas_diagonal diagonal;
  km_sparse_format format;
  uint32_t index_size_bytes, index_base;
  uint64_t rows, columns, nonzeros; /* of a, without the operation */
  uint64_t k;                       /* columns of the dense matrices */
  double alpha[2], beta[2];
  uint64_t offsets, indices, values;
  kmb_blas_array b, c; /* x is b and y is c */
} kmb_sparse_call;

typedef enum kmb_solve_routine {
  KMB_SOLVE_POTRF = 1,
  KMB_SOLVE_POTRS = 2,
  KMB_SOLVE_GETRF = 3,
  KMB_SOLVE_GETRS = 4,
  KMB_SOLVE_GEQRF = 5,
  KMB_SOLVE_ORGQR = 6,
  KMB_SOLVE_ORMQR = 7,
  KMB_SOLVE_SYEVD = 8,
  KMB_SOLVE_GESVD = 9
} kmb_solve_routine;
typedef struct kmb_solve_call {
  kmb_blas* blas;
  kmb_solve_routine routine;
  km_data_type type;
  km_blas_layout layout;
  km_blas_operation operation;
  km_blas_triangle triangle;
  km_blas_side side;
  km_solve_vectors vectors;
  uint32_t reserved;
  uint64_t m, n, k; /* columns of right-hand sides are k */
  uint64_t batch_count;
  kmb_blas_array a, b, vh; /* u and ORMQR's c are b */
  kmb_blas_array numbers;  /* pivots, tau, eigenvalues or singular values; step is 1 */
  kmb_blas_array info;
} kmb_solve_call;

typedef enum kmb_comm_kind {
  KMB_COMM_ALL_REDUCE = 1,
  KMB_COMM_REDUCE = 2,
  KMB_COMM_BROADCAST = 3,
  KMB_COMM_ALL_GATHER = 4,
  KMB_COMM_REDUCE_SCATTER = 5,
  KMB_COMM_ALL_TO_ALL = 6,
  KMB_COMM_GATHER = 7,
  KMB_COMM_SCATTER = 8,
  KMB_COMM_SEND = 9,
  KMB_COMM_RECEIVE = 10
} kmb_comm_kind;
/* One rank's part of an operation. */
typedef struct kmb_comm_operation {
  kmb_comm* comm;
  kmb_comm_kind kind;
  km_element_type type;
  km_comm_reduction reduction; /* 0: none */
  uint32_t root;               /* or the other rank of a message */
  uint64_t count;              /* elements of a block */
  uint64_t send, receive;      /* 0: the rank has no such array */
  uint8_t scale[8];            /* of KM_COMM_REDUCTION_SCALED_SUM: one element */
} kmb_comm_operation;
/* Operations that begin together, since each may wait for another. */
typedef struct kmb_comm_call {
  const kmb_comm_operation* operations; /* copied */
  uint64_t count;
} kmb_comm_call;

typedef enum kmb_library_kind {
  KMB_LIBRARY_FFT = 1,
  KMB_LIBRARY_SPARSE = 2,
  KMB_LIBRARY_SOLVE = 3,
  KMB_LIBRARY_COMM = 4
} kmb_library_kind;
typedef struct kmb_library_call {
  const char* name; /* for profiles and messages: "km_sparse_mv"; static lifetime */
  kmb_library_kind kind;
  uint32_t reserved;
  union {
    kmb_fft_call fft;
    kmb_sparse_call sparse;
    kmb_solve_call solve;
    kmb_comm_call comm;
  };
} kmb_library_call;

/* Work of the host for a stream, in pieces that several threads may run concurrently. Whoever
 * queues it lists the memory that it accesses; the backend holds a reference to `data` from the
 * call that gets the task to the end of its last run. */
typedef struct kmb_task {
  const char* name; /* for profiles and messages; static lifetime */
  void* data;
  uint64_t pieces;       /* at least 1 */
  uint64_t estimated_ns; /* of all pieces; short tasks stay on one thread */
  /* A failure ends the context, as a fault of a kernel does. May run on any thread of the backend,
   * and in a graph once per launch. An access to missing memory leaves it without unwinding. */
  km_status (*run)(void* data, uint64_t piece, kmb_error* error);
  void (*retain)(void* data);
  void (*release)(void* data);
  /* Null, or makes the data that one executable graph uses in place of `data`, with a reference for
   * the caller: executable graphs run at the same time. `graph` is the number of the graph, the
   * same for all of its nodes, never 0. Null without memory. */
  void* (*for_graph)(void* data, uint64_t graph);
  /* Null, or starts work that the library does on threads of its own, in place of run(). The work
   * may need that of other streams, and holds no thread of the backend: start() waits for its end
   * only if may_wait is 1, which says that a thread of the host would do so next. Returns 1 if the
   * work is over; after 0, resume(resume_data) is called once when it is, on any thread, maybe
   * before the return. pieces is 1. */
  uint32_t (*start)(void* data, uint32_t may_wait, void (*resume)(void* resume_data),
                    void* resume_data);
  /* 1: start() takes a moment, so that the thread that queues the task may call it in place of a
   * thread of the backend. */
  uint32_t begins_at_once;
} kmb_task;

/* An operation of a stream on one number in memory, aligned to its size of 4 or 8 bytes.
 * Comparisons are unsigned; GEQ is cyclic: the difference as a signed number is not negative. */
typedef enum kmb_memory_op_kind {
  KMB_MEMORY_WRITE = 1,
  KMB_MEMORY_WAIT_GEQ = 2,
  KMB_MEMORY_WAIT_EQ = 3,
  KMB_MEMORY_WAIT_AND = 4, /* until they have a common bit */
  KMB_MEMORY_WAIT_NOR = 5  /* until a bit is 0 in both */
} kmb_memory_op_kind;
typedef struct kmb_memory_op {
  uint64_t address;
  uint64_t value;
  kmb_memory_op_kind kind;
  uint32_t value_size_bytes; /* 4 or 8 */
} kmb_memory_op;

/* Kinds of nodes beyond km_graph_node_kind, for which the C ABI has no calls. */
enum {
  KMB_GRAPH_NODE_EVENT_RECORD = 65, /* counts as recorded from the launch on */
  KMB_GRAPH_NODE_EVENT_WAIT = 66,   /* waits for the recording before the launch */
  KMB_GRAPH_NODE_BRANCH = 67,
  KMB_GRAPH_NODE_TASK = 68
};

/* Branches to another node. In graphs with branches each node depends on the one before. CUDA:
 * cuGraphAddNode with CU_GRAPH_NODE_TYPE_CONDITIONAL, which is lowered to branches. */
typedef struct kmb_branch {
  /* The address of 32 bits that are tested when the graph arrives here; 0: always taken. */
  uint64_t address;
  uint32_t value;
  uint32_t if_equal; /* 1: taken if the bits are `value`; 0: taken if not */
  uint64_t target;   /* the index of a node; the number of nodes: the graph ends */
} kmb_branch;

/* The operations of nodes, in the union of kmb_graph_node; `kind` selects the member. */
typedef struct kmb_kernel_node {
  kmb_function* function;
  kmb_launch launch;      /* arguments are copied */
  uint64_t update_handle; /* the handle by which kernels change the node; 0: none does */
  uint32_t is_off;        /* nodes with a handle: no launch until a kernel turns it on */
  uint32_t reserved;
} kmb_kernel_node;
typedef struct kmb_copy_node {
  uint64_t destination, source, size_bytes;
} kmb_copy_node;
typedef struct kmb_copy_peer_node {
  uint64_t destination, source, size_bytes;
  kmb_context *destination_context, *source_context;
} kmb_copy_peer_node;
typedef struct kmb_fill_node {
  uint64_t destination, size_bytes;
  uint32_t value, value_size_bytes;
} kmb_fill_node;
typedef struct kmb_host_node {
  km_host_callback callback; /* once per launch, like stream_add_callback */
  void* user_data;
  km_release_callback release; /* called once with user_data, when the node is not used any more */
} kmb_host_node;
typedef struct kmb_blas_node {
  kmb_blas* blas;
  const kmb_blas_call* call; /* copied */
} kmb_blas_node;
typedef struct kmb_library_node {
  const kmb_library_call* call; /* copied */
} kmb_library_node;
typedef struct kmb_task_node {
  const kmb_task* task; /* copied, with a reference to its data */
} kmb_task_node;
typedef struct kmb_memory_ops_node {
  const kmb_memory_op* ops; /* copied */
  uint64_t count;
} kmb_memory_ops_node;

/* One node of a graph, with all operands resolved. Child graphs are expanded into their parents.
 * backend/graph_node.h visits the operation by its type. */
typedef struct kmb_graph_node {
  km_graph_node_kind kind;
  uint32_t reserved;
  const uint32_t* dependencies; /* indices of nodes before this one */
  uint64_t dependency_count;
  union {
    kmb_kernel_node kernel;         /* KM_GRAPH_NODE_KERNEL */
    kmb_copy_node copy;             /* KM_GRAPH_NODE_COPY, _UPLOAD, _DOWNLOAD */
    kmb_copy_3d rows;               /* KM_GRAPH_NODE_COPY_3D, _UPLOAD_3D, _DOWNLOAD_3D */
    kmb_copy_peer_node peer;        /* KM_GRAPH_NODE_COPY_PEER */
    kmb_fill_node fill;             /* KM_GRAPH_NODE_FILL */
    kmb_fill_2d fill_2d;            /* KM_GRAPH_NODE_FILL_2D */
    kmb_host_node host;             /* KM_GRAPH_NODE_HOST */
    kmb_blas_node blas;             /* KM_GRAPH_NODE_BLAS */
    kmb_library_node library;       /* KM_GRAPH_NODE_LIBRARY */
    kmb_task_node task;             /* KMB_GRAPH_NODE_TASK */
    kmb_memory_ops_node memory_ops; /* KM_GRAPH_NODE_MEMORY_OPS */
    kmb_event* event;  /* KMB_GRAPH_NODE_EVENT_*; valid while graphs with it are launched */
    kmb_branch branch; /* KMB_GRAPH_NODE_BRANCH */
  }; /* KM_GRAPH_NODE_EMPTY has no member */
} kmb_graph_node;

/* The sums of a kind of events. */
typedef struct kmb_counts {
  uint64_t requests; /* executions by warps with at least one active thread */
  uint64_t threads;  /* active threads of all requests together */
  uint64_t taken;    /* sectors of global memory, wavefronts of shared memory, divergent branches */
  uint64_t ideal;    /* sectors or wavefronts that the same data would take in the best order */
} kmb_counts;
/* The counts of one kind at one place in the source. */
typedef struct kmb_counter {
  const char* position; /* "sum.cu:41 (PTX line 31)"; empty: unknown */
  km_counter_kind kind;
  uint32_t reserved;
  kmb_counts counts;
} kmb_counter;

/* One completed operation. Members that its kind does not use are 0. */
typedef struct kmb_profile_record {
  km_profile_kind kind;      /* KM_PROFILE_KIND_RANGE means that the backend compiled a kernel */
  float occupancy;           /* kernels: mean share of the device that worked on it, 0 to 1 */
  const char* name;          /* kernels: name, valid during the call; otherwise null */
  const void* stream;        /* null: a thread of the host did the work */
  uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC, like all times */
  uint64_t size_bytes;       /* copies and fills: number of bytes */
  uint64_t operations;       /* floating-point operations of a BLAS call */
  uint64_t call_begin_ns, call_end_ns; /* times of the host's call that queued it; 0: unknown */
  uint32_t host_thread;        /* the thread of that call or of the compilation, by gettid */
  uint32_t is_of_graph;        /* the call launched a graph */
  uint32_t grid[3], block[3];  /* kernels: the launch's shape; 0 for BLAS */
  uint64_t shared_bytes;       /* dynamic shared memory of a kernel */
  const kmb_counter* counters; /* kernels: counters, valid during the call; null: not counted */
  uint64_t counter_count;
} kmb_profile_record;
/* Called on any thread, possibly several at a time. */
typedef void (*kmb_profile_callback)(void* user_data, const kmb_profile_record* record);

typedef struct kmb_backend {
  uint32_t abi_major, abi_minor;
  uint64_t size;    /* size of this table; members beyond it count as null */
  const char* name; /* "cpu" */
  const char* build_id;

  /* Called once, before any other entry. A backend that cannot work here returns the reason. */
  km_status (*initialize)(const kmb_host* host, kmb_error* error);
  km_status (*device_count)(uint32_t* out_count, kmb_error* error);
  km_status (*device_open)(uint32_t ordinal, kmb_device** out_device, kmb_error* error);
  void (*device_close)(kmb_device* device);
  km_status (*device_info)(kmb_device* device, km_device_info* out_info, kmb_error* error);
  /* KM_DEVICE_ATTRIBUTE_CUDA + n for all attributes of CUDA (cuDeviceGetAttribute), and
   * KM_DEVICE_ATTRIBUTE_UNIFIED_MEMORY, _STREAM_PRIORITY_LEAST and _GREATEST
   * (cuCtxGetStreamPriorityRange). */
  km_status (*device_attribute)(kmb_device* device, km_device_attribute attribute,
                                int64_t* out_value, kmb_error* error);

  km_status (*context_create)(kmb_device* device, kmb_context** out_context, kmb_error* error);
  /* Queued work still runs; memory is freed after its last use. The callback of context_set_check
   * is not called any more when it returns. */
  void (*context_destroy)(kmb_context* context);
  km_status (*context_synchronize)(kmb_context* context, kmb_error* error); /* BLOCKING */
  km_status (*context_memory_info)(kmb_context* context, uint64_t* out_free_bytes,
                                   uint64_t* out_total_bytes, kmb_error* error);
  /* Stops running kernels, drops queued work (callbacks get the status), clears the sticky error.
   * The kmb_ objects of the context stay valid until core destroys them. BLOCKING */
  km_status (*context_reset)(kmb_context* context, kmb_error* error);
  /* The sticky status (KM_SUCCESS: none) with its text in *error. It never fails. */
  km_status (*context_status)(kmb_context* context, kmb_error* error);
  /* Receives device printf; null: stdout. It is called by one thread at a time, during
   * synchronisation. */
  km_status (*context_set_output)(kmb_context* context, km_output_callback callback,
                                  void* user_data, kmb_error* error);

  km_status (*stream_create)(kmb_context* context, km_stream_flags flags, int32_t priority,
                             kmb_stream** out_stream, kmb_error* error);
  /* Queued work still runs; the backend frees the stream when it is drained. */
  void (*stream_destroy)(kmb_stream* stream);
  /* Waits at most timeout_ns (KMB_WAIT_FOREVER: no limit) and returns KM_TIMEOUT after that; 0
   * only queries. BLOCKING */
  km_status (*stream_synchronize)(kmb_stream* stream, uint64_t timeout_ns, kmb_error* error);
  /* The event may belong to another context or device of this backend. */
  km_status (*stream_wait_event)(kmb_stream* stream, kmb_event* event, kmb_error* error);
  /* The callback runs exactly once, also after errors, on a thread that is not a worker. */
  km_status (*stream_add_callback)(kmb_stream* stream, km_host_callback callback, void* user_data,
                                   kmb_error* error);

  km_status (*event_create)(kmb_context* context, km_event_flags flags, kmb_event** out_event,
                            kmb_error* error);
  void (*event_destroy)(kmb_event* event);
  km_status (*event_record)(kmb_event* event, kmb_stream* stream, kmb_error* error);
  km_status (*event_synchronize)(kmb_event* event, uint64_t timeout_ns, kmb_error* error);
  /* KM_NOT_READY while either has not completed; KM_ERROR_INVALID_ARGUMENT if one was never
   * recorded. */
  km_status (*event_elapsed)(kmb_event* start, kmb_event* end, int64_t* out_elapsed_ns,
                             kmb_error* error);

  /* stream null: usable at once. Zeroed: filled with zeros before any later use. Managed
   * (cuMemAllocManaged): without a stream, and the host uses it at the device's address. */
  km_status (*memory_create)(kmb_context* context, kmb_stream* stream, uint64_t size_bytes,
                             km_slice_flags flags, kmb_memory** out_memory,
                             kmb_memory_info* out_info, kmb_error* error);
  km_status (*memory_from_host)(kmb_context* context, void* pointer, uint64_t size_bytes,
                                km_release_callback release, void* user_data,
                                kmb_memory** out_memory, kmb_memory_info* out_info,
                                kmb_error* error);
  /* Moves memory of memory_create() into a file that other processes can map; its addresses
   * stay, even while it is in use. KM_ERROR_NOT_SUPPORTED if the backend has no such memory. */
  km_status (*memory_share)(kmb_memory* memory, kmb_shared_memory* out_shared, kmb_error* error);
  /* Frees the memory when all uses have completed; release callbacks then run on a thread that
   * is not a worker. */
  void (*memory_destroy)(kmb_memory* memory, const kmb_use* uses, uint64_t use_count);
  /* Page-locked host memory; its address is valid on the device if the hardware allows it. */
  km_status (*host_memory_create)(kmb_context* context, uint64_t size_bytes,
                                  kmb_memory** out_memory, kmb_memory_info* out_info,
                                  kmb_error* error);
  km_status (*host_memory_register)(kmb_context* context, void* pointer, uint64_t size_bytes,
                                    kmb_memory** out_memory, kmb_memory_info* out_info,
                                    kmb_error* error);

  /* Host to device, device to host, device to device, by address. `pinned`: the host side is
   * known to be page-locked, so the copy is asynchronous; otherwise the source has been read, or
   * the destination written, when the call returns (BLOCKING beyond 64 KiB). An entry that may
   * wait calls `queued` before, if it is not null. */
  km_status (*copy_to_device)(kmb_stream* stream, uint64_t destination, const void* source,
                              uint64_t size_bytes, uint32_t pinned, const kmb_queued* queued,
                              uint64_t* out_ticket, kmb_error* error);
  km_status (*copy_to_host)(kmb_stream* stream, void* destination, uint64_t source,
                            uint64_t size_bytes, uint32_t pinned, const kmb_queued* queued,
                            uint64_t* out_ticket, kmb_error* error);
  km_status (*copy_on_device)(kmb_stream* stream, uint64_t destination, uint64_t source,
                              uint64_t size_bytes, uint64_t* out_ticket, kmb_error* error);
  /* value_size_bytes is 1, 2 or 4. */
  km_status (*fill)(kmb_stream* stream, uint64_t destination, uint32_t value,
                    uint32_t value_size_bytes, uint64_t count, uint64_t* out_ticket,
                    kmb_error* error);

  km_status (*module_load)(kmb_context* context, const char* ptx, uint64_t ptx_size_bytes,
                           const char* name, kmb_module** out_module, kmb_error* error);
  void (*module_unload)(kmb_module* module, const kmb_use* uses, uint64_t use_count);
  km_status (*module_function_count)(kmb_module* module, uint32_t* out_count, kmb_error* error);
  km_status (*module_function_at)(kmb_module* module, uint32_t index, kmb_function** out_function,
                                  kmb_error* error);
  km_status (*module_global)(kmb_module* module, const char* name, kmb_global_info* out_info,
                             kmb_error* error);
  /* A kmb_function lives as long as its module. */
  km_status (*function_info)(kmb_function* function, kmb_function_info* out_info, kmb_error* error);
  km_status (*function_attribute_get)(kmb_function* function, km_function_attribute attribute,
                                      int64_t* out_value, kmb_error* error);
  km_status (*function_attribute_set)(kmb_function* function, km_function_attribute attribute,
                                      int64_t value, kmb_error* error);
  km_status (*launch)(kmb_stream* stream, kmb_function* function, const kmb_launch* launch,
                      uint64_t* out_ticket, kmb_error* error);

  /* Optional (null: core synchronises the stream instead). A ticket that completes when all
   * operations enqueued so far have, including waits for events; it works in a failed context
   * too. Core uses it to free memory in stream order. */
  km_status (*stream_ticket)(kmb_stream* stream, uint64_t* out_ticket, kmb_error* error);
  /* Optional (null: nothing to prepare). Generates the code for blocks of this size. */
  km_status (*function_prepare)(kmb_function* function, const uint32_t block[3], kmb_error* error);

  /* Memory. All optional. */

  /* Queries the operation with this ticket: KM_SUCCESS or KM_NOT_READY; it works in a failed
   * context too (null: core queries the whole stream). Pools use it to reuse blocks. CUDA:
   * cuEventQuery on the event recorded after the operation. */
  km_status (*stream_query_ticket)(kmb_stream* stream, uint64_t ticket, kmb_error* error);

  /* Graphs. All optional (null: no graphs). Nodes follow those that they depend on. Core keeps
   * everything that the nodes use until the tickets of all launches are complete. When
   * graph_create and graph_update fail, nothing is released or changed. CUDA: cuGraphCreate,
   * cuGraphAdd*Node and cuGraphInstantiate; host nodes' data as a user object
   * (cuUserObjectCreate, cuGraphRetainUserObject). Core implements capturing itself, so that it
   * works alike on all backends; work that a library queues itself (cuBLAS) can be captured into
   * nodes by cuStreamBeginCapture on a stream of the backend. */
  km_status (*graph_create)(kmb_context* context, const kmb_graph_node* nodes, uint64_t node_count,
                            kmb_graph** out_graph, kmb_error* error);
  /* Launches under way still complete. CUDA: cuGraphExecDestroy. */
  void (*graph_destroy)(kmb_graph* graph);
  /* New parameters for nodes [indices], of the same kinds and dependencies, for later launches.
   * CUDA: cuGraphExecKernelNodeSetParams, cuGraphExecMemcpyNodeSetParams and so on. */
  km_status (*graph_update)(kmb_graph* graph, const uint32_t* indices, const kmb_graph_node* nodes,
                            uint64_t count, kmb_error* error);
  /* Core serialises the launches of a graph. CUDA: cuGraphLaunch. */
  km_status (*graph_launch)(kmb_graph* graph, kmb_stream* stream, uint64_t* out_ticket,
                            kmb_error* error);
  /* Optional (null: kernels launch no graphs). Lets kernels launch the graph by `handle` with
   * these nodes: all nodes of the graph, disabled ones as empty nodes. Replaces an earlier
   * upload; graph_destroy withdraws it. CUDA: cuGraphUpload of a graph for device launch. */
  km_status (*graph_upload)(kmb_graph* graph, uint64_t handle, const kmb_graph_node* nodes,
                            uint64_t node_count, kmb_error* error);
  /* Optional (null: kernels change no nodes, and update_handle is 0). Queues a reset of the
   * nodes that graph_update has changed since the last launch, which discards changes that
   * kernels made before; a launch does so too. Core orders it among the launches. CUDA:
   * cuGraphUpload. */
  km_status (*graph_restore)(kmb_graph* graph, kmb_stream* stream, uint64_t* out_ticket,
                             kmb_error* error);
  /* Core has checked bounds and overlaps. A pageable host side and `queued` are treated as in
   * copy_to_device and copy_to_host. CUDA: cuMemcpy3DAsync, cuMemcpy2DAsync. */
  km_status (*copy_3d)(kmb_stream* stream, const kmb_copy_3d* copy, const kmb_queued* queued,
                       uint64_t* out_ticket, kmb_error* error);
  /* CUDA: cuMemsetD2D8Async, cuMemsetD2D16Async, cuMemsetD2D32Async. */
  km_status (*fill_2d)(kmb_stream* stream, uint64_t destination, uint64_t pitch_bytes,
                       uint32_t value, uint32_t value_size_bytes, uint64_t width_count,
                       uint64_t height, uint64_t* out_ticket, kmb_error* error);
  /* CUDA: cuDeviceCanAccessPeer. */
  km_status (*device_can_access_peer)(kmb_device* device, kmb_device* peer,
                                      uint32_t* out_can_access, kmb_error* error);
  /* Allows or forbids kernels of `context` to use memory of `peer`. CUDA: cuCtxEnablePeerAccess,
   * cuCtxDisablePeerAccess. */
  km_status (*context_set_peer_access)(kmb_context* context, kmb_context* peer, uint32_t enabled,
                                       kmb_error* error);
  /* Works with and without peer access. CUDA: cuMemcpyPeerAsync. */
  km_status (*copy_peer)(kmb_stream* stream, kmb_context* destination_context, uint64_t destination,
                         kmb_context* source_context, uint64_t source, uint64_t size_bytes,
                         uint64_t* out_ticket, kmb_error* error);

  /* Compiled modules. Both optional. */

  /* Loads a module from data of module_save_object. CUDA: cuModuleLoadDataEx with a cubin. */
  km_status (*module_load_object)(kmb_context* context, const void* data, uint64_t size_bytes,
                                  const char* name, kmb_module** out_module, kmb_error* error);
  /* Generates code for these block sizes (three numbers each) and for any size, and passes all
   * of it to `receive` in one piece before the call returns. CUDA: the cubin of cuLinkComplete. */
  km_status (*module_save_object)(kmb_module* module, const uint32_t* blocks, uint64_t block_count,
                                  void (*receive)(void* user_data, const void* data,
                                                  uint64_t size_bytes),
                                  void* user_data, kmb_error* error);

  /* Optional (null: no times). Turns the recording of operations on or off. The first call sets
   * the callback for the whole life of the context; user_data is released at its end. While it
   * is off, launches cost nothing more. CUDA: cuEventRecord around each operation, read when the
   * stream is synchronised (cuEventElapsedTime), or CUPTI's activity records. */
  km_status (*context_profile)(kmb_context* context, uint32_t on, kmb_profile_callback callback,
                               void* user_data, km_release_callback release, kmb_error* error);

  /* Optional (null: no counters). Sets whether later launches count what warps do, which the
   * records of context_profile then have; at first the environment says it. CUDA: CUPTI's metrics,
   * for which a kernel runs several times. */
  km_status (*context_set_counters)(kmb_context* context, uint32_t on, kmb_error* error);

  /* Limits. Both optional (null: none). KM_ERROR_NOT_SUPPORTED for limits that the device does
   * not have. CUDA: cuCtxGetLimit, cuCtxSetLimit. */
  km_status (*context_limit_get)(kmb_context* context, km_context_limit limit, uint64_t* out_value,
                                 kmb_error* error);
  km_status (*context_limit_set)(kmb_context* context, km_context_limit limit, uint64_t value,
                                 kmb_error* error);
  /* BLAS. All optional (null: none). */

  /* CUDA: cublasCreate, with cublasSetPointerMode. A missing library may be an error here or in
   * the calls that need it (KM_ERROR_BLAS_UNAVAILABLE). */
  km_status (*blas_create)(kmb_context* context, kmb_blas** out_blas, kmb_error* error);
  void (*blas_destroy)(kmb_blas* blas);
  /* CUDA: cublasSetStream, then the function that backend/blas.def names. */
  km_status (*blas_submit)(kmb_blas* blas, kmb_stream* stream, const kmb_blas_call* call,
                           uint64_t* out_ticket, kmb_error* error);

  /* Optional (null: streams have no such operations). The operations run one after the other; a
   * wait holds up only this stream, until the host, a kernel or another stream has written the
   * value. CUDA: cuStreamBatchMemOp. */
  km_status (*stream_memory_ops)(kmb_stream* stream, const kmb_memory_op* ops, uint64_t count,
                                 uint64_t* out_ticket, kmb_error* error);

  /* Optional (null: no contexts with KM_CONTEXT_ORDERED). Makes later work of `stream` wait
   * until the operation of `other` with this ticket has completed. A backend may wait for later
   * operations too, and returns the ticket of the last one. `other` may belong to another
   * context or device of this backend; in a context that failed or was reset, every operation
   * counts as complete. CUDA: cuEventRecord on `other` and cuStreamWaitEvent. */
  km_status (*stream_wait_ticket)(kmb_stream* stream, kmb_stream* other, uint64_t* inout_ticket,
                                  kmb_error* error);

  /* Optional (null: accesses of kernels are not checked). Sets for a new context, before it has
   * any objects, whether each access of its kernels is checked; *out_is_checked is the mode in
   * effect, since the environment may override it. CUDA: compute-sanitizer, from outside. */
  km_status (*context_set_checked)(kmb_context* context, uint32_t wanted, uint32_t* out_is_checked,
                                   kmb_error* error);

  /* Optional (null: it gives null for all functions). The name of a function whose function_info
   * may take as long as loading a module, and fail as that does: core calls it when the function is
   * first used. Null: core calls function_info when it loads the module. CUDA: cuFuncGetName. */
  const char* (*function_deferred_name)(kmb_function* function);

  /* Optional (null: nothing to tell). The program has freed the memory, and gets it again from a
   * pool that kept it: what was done with it before counts no more. CUDA: what compute-sanitizer
   * learns from cuMemAllocAsync. */
  void (*memory_reused)(kmb_memory* memory);
  /* The checker. All optional (null: none). CUDA: compute-sanitizer, from outside. */

  /* Selects the tools for later launches; `flags` are known ones, or KM_CHECK_ALL for
   * those that it can select; KM_ERROR_NOT_SUPPORTED for others. `callback` gets each finding, one
   * call at a time, at most `limit` (0: all); null: the backend prints them. The former callback is
   * not running any more when the call returns. BLOCKING */
  km_status (*context_set_check)(kmb_context* context, km_check_flags flags, uint64_t limit,
                                 km_finding_callback callback, void* user_data, kmb_error* error);
  /* The tools in effect, at first those of the environment. */
  km_check_flags (*context_check_flags)(kmb_context* context);
  /* Passes on a finding that core has made, as one of the backend's own. */
  void (*context_add_finding)(kmb_context* context, const km_finding* finding);

  /* Optional (null: none). Queues work of the host, whose addresses are those of the device's
   * memory. CUDA: cuLaunchHostFunc, whose memory would have to be managed. */
  km_status (*task_submit)(kmb_stream* stream, const kmb_task* task, uint64_t* out_ticket,
                           kmb_error* error);

  /* Fourier transforms, sparse products and solvers. All optional (null: none). */

  /* Plans transforms of a checked shape, whose layouts are complete (no zeros that stand for dense
   * ones). Queued calls and graphs may use the plan after fft_destroy. CUDA: cufftMakePlanMany64.
   */
  km_status (*fft_create)(kmb_context* context, const km_fft_shape* shape, kmb_fft** out_fft,
                          kmb_error* error);
  void (*fft_destroy)(kmb_fft* fft);
  /* CUDA: the function of cuFFT, cuSPARSE or cuSOLVER. KM_ERROR_NOT_SUPPORTED for kinds and
   * routines that the backend does not have. */
  km_status (*library_submit)(kmb_stream* stream, const kmb_library_call* call,
                              uint64_t* out_ticket, kmb_error* error);

  /* Communicators. All optional (null: none). Their operations are calls of library_submit, which
   * may use a communicator after comm_destroy. A failure of a communicator is
   * KM_ERROR_IO, whose text names the ranks. */

  /* CUDA: ncclGetUniqueId. */
  km_status (*comm_id_create)(kmb_device* device, km_comm_id* out_id, kmb_error* error);
  /* BLOCKING: until all ranks have joined. CUDA: ncclCommInitRank. */
  km_status (*comm_create)(kmb_context* context, const km_comm_id* id, uint32_t rank_count,
                           uint32_t rank, kmb_comm** out_comm, kmb_error* error);
  /* BLOCKING: until all ranks have called it. Null for a negative color. CUDA: ncclCommSplit. */
  km_status (*comm_split)(kmb_comm* comm, int32_t color, int32_t key, kmb_comm** out_comm,
                          kmb_error* error);
  /* CUDA: ncclCommDestroy. */
  void (*comm_destroy)(kmb_comm* comm);
  /* CUDA: ncclCommAbort. */
  void (*comm_abort)(kmb_comm* comm);
  /* KM_SUCCESS, or the communicator's failure. CUDA: ncclCommGetAsyncError. */
  km_status (*comm_status)(kmb_comm* comm, kmb_error* error);
  /* Fills all members but struct_size. CUDA: ncclCommUserRank, ncclCommCount. */
  void (*comm_info)(kmb_comm* comm, km_comm_info* out_info);
  /* Both or none (null: calls of library_submit may follow each other without them). Begins a group
   * of calls of library_submit that this thread makes for several streams, whose operations begin
   * together: their work may be queued at the group's end only, and one may not wait for another.
   * Groups do not nest. CUDA: ncclGroupStart. */
  km_status (*comm_group_begin)(kmb_error* error);
  /* Queues the group's operations, or none if it `is_cancelled`; ends the group even if it fails.
   * CUDA: ncclGroupEnd. */
  km_status (*comm_group_end)(int32_t is_cancelled, kmb_error* error);
} kmb_backend;

/* The size of the table without its optional entries. */
#define KMB_REQUIRED_SIZE offsetof(kmb_backend, stream_ticket)

/* A plugin exports it as `km_backend_plugin`. */
typedef const kmb_backend* (*kmb_plugin_entry)(void);

#ifdef __cplusplus
}
#endif
#endif
