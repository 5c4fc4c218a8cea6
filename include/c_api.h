/* Kernelmill: runs CUDA-style kernels (PTX or CUDA C++) on NVIDIA GPUs and on any CPU. */
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

#define KM_VERSION_MAJOR 1
#define KM_VERSION_MINOR 0
#define KM_VERSION_PATCH 0

/* Handles. */
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

/* Status. */
typedef int32_t km_status;
enum {
  KM_SUCCESS = 0,
  KM_NOT_READY = 1,                  /* not an error: the work queried is still running */
  KM_TIMEOUT = 2,                    /* not an error: the time limit of a wait passed */
  KM_ERROR_INTERNAL = 100,
  KM_ERROR_INVALID_ARGUMENT = 101,
  KM_ERROR_INVALID_HANDLE = 102,
  KM_ERROR_OUT_OF_HOST_MEMORY = 103,
  KM_ERROR_OUT_OF_DEVICE_MEMORY = 104,
  KM_ERROR_OUT_OF_BOUNDS = 105,      /* offset or size beyond the allocation */
  KM_ERROR_NOT_FOUND = 106,          /* no such kernel, symbol, file ... */
  KM_ERROR_NOT_SUPPORTED = 107,
  KM_ERROR_NOT_PERMITTED = 108,      /* for example a blocking call in a host callback */
  KM_ERROR_BUFFER_TOO_SMALL = 109,
  KM_ERROR_IO = 110,
  KM_ERROR_CONTEXT_MISMATCH = 111,   /* objects of different contexts or devices together */
  KM_ERROR_CONTEXT_LOST = 112,       /* a child handle of a context that was reset */
  KM_ERROR_PROCESS_LOST = 113,       /* only a new process helps */
  KM_ERROR_FORKED = 114,             /* the process was forked after the library was used */
  KM_ERROR_BACKEND_UNAVAILABLE = 200,
  KM_ERROR_NO_DEVICE = 201,
  KM_ERROR_BUILD_MISMATCH = 202,     /* library and plugin come from different builds */
  KM_ERROR_NVRTC_UNAVAILABLE = 203,
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
  KM_ERROR_LAUNCH_TIMEOUT = 406,     /* KM_KERNEL_TIMEOUT_MS passed */
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

typedef struct km_build_info {
  uint32_t struct_size;
  uint32_t version_major, version_minor, version_patch;
  char build_id[48];
  char compiler[48];
} km_build_info;

typedef struct km_backend_info {
  uint32_t struct_size;
  uint32_t device_count;
  km_status status;          /* KM_SUCCESS: usable */
  uint32_t reserved;
  char name[32];             /* "cpu" */
  char reason[512];          /* why it is not usable */
} km_backend_info;

typedef struct km_device_info {
  uint32_t struct_size;
  uint32_t ordinal;
  char uri[32];              /* "cpu:0" */
  char backend[32];
  char name[128];
  uint64_t total_memory_bytes;
  uint32_t compute_capability_major, compute_capability_minor;
  uint32_t multiprocessor_count;
  uint32_t warp_size;
  uint32_t max_threads_per_block;
  uint32_t max_block_dim[3];
  uint32_t max_grid_dim[3];
  uint32_t reserved;
  uint64_t shared_bytes_per_block;        /* without opting in */
  uint64_t shared_bytes_per_block_max;    /* with KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES */
  uint64_t clock_rate_khz;                /* 0: unknown */
  uint64_t memory_clock_rate_khz;         /* 0: unknown */
  uint32_t memory_bus_width_bits;         /* 0: unknown */
  uint32_t threads;                       /* worker threads of a CPU device, else 0 */
  char isa[32];                           /* "avx512", "avx2", "x86-64-v2"; "sm_90" */
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
  KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST = 17,
  KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST = 18,
  KM_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 19,
  KM_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 20,
  KM_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 21,
  KM_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_BYTES = 22,
  KM_DEVICE_ATTRIBUTE_L2_CACHE_BYTES = 23
};

typedef uint32_t km_stream_flags;
enum { KM_STREAM_DEFAULT = 0 };
typedef uint32_t km_event_flags;
enum { KM_EVENT_DEFAULT = 0, KM_EVENT_DISABLE_TIMING = 1 };
typedef uint32_t km_host_memory_flags;
enum { KM_HOST_MEMORY_DEFAULT = 0 };
typedef uint32_t km_slice_flags;
enum { KM_SLICE_DEFAULT = 0, KM_SLICE_ZEROED = 1 };

typedef struct km_slice_info {
  uint32_t struct_size;
  uint32_t is_view;
  uint64_t address;              /* device address of the first element */
  uint64_t element_count;
  uint64_t element_size_bytes;
  uint64_t size_bytes;
} km_slice_info;

typedef int32_t km_function_attribute;
enum {
  KM_FUNCTION_ATTRIBUTE_INVALID = 0,
  KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  KM_FUNCTION_ATTRIBUTE_SHARED_BYTES = 2,             /* static */
  KM_FUNCTION_ATTRIBUTE_CONSTANT_BYTES = 3,
  KM_FUNCTION_ATTRIBUTE_LOCAL_BYTES = 4,              /* per thread */
  KM_FUNCTION_ATTRIBUTE_REGISTERS = 5,
  KM_FUNCTION_ATTRIBUTE_PTX_VERSION = 6,              /* 90 for ISA 9.0 */
  KM_FUNCTION_ATTRIBUTE_TARGET = 7,                   /* 80 for sm_80 */
  KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES = 8, /* settable */
  KM_FUNCTION_ATTRIBUTE_EXECUTION_MODE = 9            /* km_execution_mode, CPU only */
};
typedef int32_t km_execution_mode;
enum {
  KM_EXECUTION_MODE_UNKNOWN = 0,
  KM_EXECUTION_MODE_RUN_TO_COMPLETION = 1,
  KM_EXECUTION_MODE_SUSPENDABLE_WARPS = 2,
  KM_EXECUTION_MODE_SPLIT_WARPS = 3
};

typedef int32_t km_param_kind;
enum { KM_PARAM_KIND_UNKNOWN = 0, KM_PARAM_KIND_POINTER = 1, KM_PARAM_KIND_VALUE = 2 };
typedef struct km_param_info {
  uint32_t struct_size;
  km_param_kind kind;
  uint64_t size_bytes, align_bytes, offset_bytes;
} km_param_info;

typedef struct km_launch_config {
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t shared_bytes;    /* dynamic shared memory per block */
} km_launch_config;
/* Frozen for ever. */
typedef struct km_launch_slice {
  uint32_t parameter;
  uint32_t reserved;
  uint64_t slice;           /* the handle's value */
  uint64_t offset_bytes;
} km_launch_slice;

typedef void (*km_host_callback)(void* user_data, km_status status);
typedef void (*km_release_callback)(void* user_data);
typedef void (*km_output_callback)(void* user_data, const char* text, uint64_t size_bytes);

/* Version and build. */
KM_API km_status km_version(uint32_t* out_major, uint32_t* out_minor, uint32_t* out_patch) KM_NOEXCEPT;
KM_API km_status km_build_info_get(km_build_info* out_info) KM_NOEXCEPT;

/* Errors. Text calls copy out: buffer null and capacity 0 probe the size (with the closing zero). */
KM_API km_status km_status_name(km_status status, const char** out_name) KM_NOEXCEPT;
KM_API km_status km_status_description(km_status status, const char** out_description) KM_NOEXCEPT;
KM_API km_status km_status_recovery(km_status status, const char** out_suggestion) KM_NOEXCEPT;
KM_API km_status km_status_category(km_status status, km_error_category* out_category) KM_NOEXCEPT;
KM_API km_status km_last_error_message(char* buffer, uint64_t capacity_bytes, uint64_t* out_size_bytes) KM_NOEXCEPT;
KM_API km_status km_last_error_native_code(int64_t* out_code) KM_NOEXCEPT;

/* Backends and devices. */
KM_API km_status km_backend_count(uint32_t* out_count) KM_NOEXCEPT;
KM_API km_status km_backend_info_get(uint32_t index, km_backend_info* out_info) KM_NOEXCEPT;
KM_API km_status km_device_count(const char* backend, uint32_t* out_count) KM_NOEXCEPT;
KM_API km_status km_device_open(const char* uri, km_device* out_device) KM_NOEXCEPT;
KM_API km_status km_device_destroy(km_device device) KM_NOEXCEPT;
KM_API km_status km_device_info_get(km_device device, km_device_info* out_info) KM_NOEXCEPT;
KM_API km_status km_device_attribute_get(km_device device, km_device_attribute attribute, int64_t* out_value) KM_NOEXCEPT;

/* Contexts. */
KM_API km_status km_context_create(km_device device, km_context* out_context) KM_NOEXCEPT;
KM_API km_status km_context_destroy(km_context context) KM_NOEXCEPT;
KM_API km_status km_context_device(km_context context, km_device* out_device) KM_NOEXCEPT;
KM_API km_status km_context_default_stream(km_context context, km_stream* out_stream) KM_NOEXCEPT;
KM_API km_status km_context_synchronize(km_context context) KM_NOEXCEPT;
KM_API km_status km_context_memory_info(km_context context, uint64_t* out_free_bytes, uint64_t* out_total_bytes) KM_NOEXCEPT;
KM_API km_status km_context_reset(km_context context) KM_NOEXCEPT;
KM_API km_status km_context_error(km_context context, km_status* out_status) KM_NOEXCEPT;
KM_API km_status km_context_error_message(km_context context, char* buffer, uint64_t capacity_bytes, uint64_t* out_size_bytes) KM_NOEXCEPT;
KM_API km_status km_context_take_error(km_context context, km_status* out_status) KM_NOEXCEPT;
KM_API km_status km_context_find_slice(km_context context, uint64_t address, km_slice* out_slice, uint64_t* out_offset_bytes) KM_NOEXCEPT;
KM_API km_status km_context_set_output(km_context context, km_output_callback callback, void* user_data) KM_NOEXCEPT;

/* Streams. */
KM_API km_status km_stream_create(km_context context, km_stream_flags flags, int32_t priority, km_stream* out_stream) KM_NOEXCEPT;
KM_API km_status km_stream_destroy(km_stream stream) KM_NOEXCEPT;
KM_API km_status km_stream_context(km_stream stream, km_context* out_context) KM_NOEXCEPT;
KM_API km_status km_stream_priority(km_stream stream, int32_t* out_priority) KM_NOEXCEPT;
KM_API km_status km_stream_synchronize(km_stream stream) KM_NOEXCEPT;
KM_API km_status km_stream_synchronize_timeout(km_stream stream, uint64_t timeout_ns) KM_NOEXCEPT;
KM_API km_status km_stream_query(km_stream stream) KM_NOEXCEPT;
KM_API km_status km_stream_wait_event(km_stream stream, km_event event) KM_NOEXCEPT;
KM_API km_status km_stream_add_callback(km_stream stream, km_host_callback callback, void* user_data) KM_NOEXCEPT;

/* Events. */
KM_API km_status km_event_create(km_context context, km_event_flags flags, km_event* out_event) KM_NOEXCEPT;
KM_API km_status km_event_destroy(km_event event) KM_NOEXCEPT;
KM_API km_status km_event_record(km_event event, km_stream stream) KM_NOEXCEPT;
KM_API km_status km_event_query(km_event event) KM_NOEXCEPT;
KM_API km_status km_event_synchronize(km_event event) KM_NOEXCEPT;
KM_API km_status km_event_synchronize_timeout(km_event event, uint64_t timeout_ns) KM_NOEXCEPT;
KM_API km_status km_event_elapsed_ns(km_event start, km_event end, int64_t* out_elapsed_ns) KM_NOEXCEPT;

/* Host memory. */
KM_API km_status km_host_memory_create(km_context context, uint64_t size_bytes, km_host_memory_flags flags, km_host_memory* out_memory) KM_NOEXCEPT;
KM_API km_status km_host_memory_register(km_context context, void* pointer, uint64_t size_bytes, km_host_memory_flags flags, km_host_memory* out_memory) KM_NOEXCEPT;
KM_API km_status km_host_memory_destroy(km_host_memory memory) KM_NOEXCEPT;
KM_API km_status km_host_memory_pointer(km_host_memory memory, void** out_pointer) KM_NOEXCEPT;
KM_API km_status km_host_memory_size_bytes(km_host_memory memory, uint64_t* out_size_bytes) KM_NOEXCEPT;

/* Slices and views. */
KM_API km_status km_slice_create(km_context context, uint64_t element_count, uint64_t element_size_bytes, km_slice_flags flags, km_slice* out_slice) KM_NOEXCEPT;
KM_API km_status km_slice_create_on_stream(km_stream stream, uint64_t element_count, uint64_t element_size_bytes, km_slice_flags flags, km_slice* out_slice) KM_NOEXCEPT;
KM_API km_status km_slice_from_host(km_context context, void* pointer, uint64_t element_count, uint64_t element_size_bytes, km_release_callback release, void* user_data, km_slice* out_slice) KM_NOEXCEPT;
KM_API km_status km_slice_view(km_slice slice, uint64_t first_element, uint64_t element_count, km_slice* out_view) KM_NOEXCEPT;
KM_API km_status km_slice_destroy(km_slice slice) KM_NOEXCEPT;
KM_API km_status km_slice_destroy_on_stream(km_slice slice, km_stream stream) KM_NOEXCEPT;
KM_API km_status km_slice_info_get(km_slice slice, km_slice_info* out_info) KM_NOEXCEPT;
KM_API km_status km_slice_address(km_slice slice, uint64_t* out_address) KM_NOEXCEPT;
KM_API km_status km_slice_host_pointer(km_slice slice, void** out_pointer) KM_NOEXCEPT;
KM_API km_status km_slice_upload(km_stream stream, km_slice destination, uint64_t offset_bytes, const void* source, uint64_t size_bytes) KM_NOEXCEPT;
KM_API km_status km_slice_download(km_stream stream, km_slice source, uint64_t offset_bytes, void* destination, uint64_t size_bytes) KM_NOEXCEPT;
KM_API km_status km_slice_copy(km_stream stream, km_slice destination, uint64_t destination_offset_bytes, km_slice source, uint64_t source_offset_bytes, uint64_t size_bytes) KM_NOEXCEPT;
KM_API km_status km_slice_fill_u8(km_stream stream, km_slice slice, uint64_t offset_bytes, uint8_t value, uint64_t count) KM_NOEXCEPT;
KM_API km_status km_slice_fill_u16(km_stream stream, km_slice slice, uint64_t offset_bytes, uint16_t value, uint64_t count) KM_NOEXCEPT;
KM_API km_status km_slice_fill_u32(km_stream stream, km_slice slice, uint64_t offset_bytes, uint32_t value, uint64_t count) KM_NOEXCEPT;
/* The same by raw device address. */
KM_API km_status km_memory_upload(km_stream stream, uint64_t destination_address, const void* source, uint64_t size_bytes) KM_NOEXCEPT;
KM_API km_status km_memory_download(km_stream stream, uint64_t source_address, void* destination, uint64_t size_bytes) KM_NOEXCEPT;
KM_API km_status km_memory_copy(km_stream stream, uint64_t destination_address, uint64_t source_address, uint64_t size_bytes) KM_NOEXCEPT;
KM_API km_status km_memory_fill_u8(km_stream stream, uint64_t address, uint8_t value, uint64_t count) KM_NOEXCEPT;
KM_API km_status km_memory_fill_u16(km_stream stream, uint64_t address, uint16_t value, uint64_t count) KM_NOEXCEPT;
KM_API km_status km_memory_fill_u32(km_stream stream, uint64_t address, uint32_t value, uint64_t count) KM_NOEXCEPT;

/* Programs: CUDA C++ to PTX. */
KM_API km_status km_program_create(const char* source, uint64_t source_size_bytes, const char* name, km_program* out_program) KM_NOEXCEPT;
KM_API km_status km_program_destroy(km_program program) KM_NOEXCEPT;
KM_API km_status km_program_add_option(km_program program, const char* option) KM_NOEXCEPT;
KM_API km_status km_program_add_header(km_program program, const char* name, const char* source, uint64_t source_size_bytes) KM_NOEXCEPT;
KM_API km_status km_program_add_name_expression(km_program program, const char* expression) KM_NOEXCEPT;
KM_API km_status km_program_compile(km_program program) KM_NOEXCEPT;
KM_API km_status km_program_log(km_program program, char* buffer, uint64_t capacity_bytes, uint64_t* out_size_bytes) KM_NOEXCEPT;
KM_API km_status km_program_ptx(km_program program, char* buffer, uint64_t capacity_bytes, uint64_t* out_size_bytes) KM_NOEXCEPT;
KM_API km_status km_program_lowered_name(km_program program, const char* expression, char* buffer, uint64_t capacity_bytes, uint64_t* out_size_bytes) KM_NOEXCEPT;

/* Modules, functions, global symbols. */
KM_API km_status km_module_load_ptx(km_context context, const char* ptx, uint64_t ptx_size_bytes, const char* name, km_module* out_module) KM_NOEXCEPT;
KM_API km_status km_module_load_file(km_context context, const char* path, km_module* out_module) KM_NOEXCEPT;
KM_API km_status km_module_load_source(km_context context, const char* source, uint64_t source_size_bytes, const char* name, km_module* out_module) KM_NOEXCEPT;
KM_API km_status km_module_load_program(km_context context, km_program program, km_module* out_module) KM_NOEXCEPT;
KM_API km_status km_module_destroy(km_module module) KM_NOEXCEPT;
KM_API km_status km_module_function_count(km_module module, uint32_t* out_count) KM_NOEXCEPT;
KM_API km_status km_module_function_name(km_module module, uint32_t index, char* buffer, uint64_t capacity_bytes, uint64_t* out_size_bytes) KM_NOEXCEPT;
KM_API km_status km_module_function(km_module module, const char* name, km_function* out_function) KM_NOEXCEPT;
KM_API km_status km_module_global(km_module module, const char* name, km_slice* out_slice) KM_NOEXCEPT;
KM_API km_status km_function_destroy(km_function function) KM_NOEXCEPT;
KM_API km_status km_function_name(km_function function, char* buffer, uint64_t capacity_bytes, uint64_t* out_size_bytes) KM_NOEXCEPT;
KM_API km_status km_function_attribute_get(km_function function, km_function_attribute attribute, int64_t* out_value) KM_NOEXCEPT;
KM_API km_status km_function_attribute_set(km_function function, km_function_attribute attribute, int64_t value) KM_NOEXCEPT;
KM_API km_status km_function_param_count(km_function function, uint32_t* out_count) KM_NOEXCEPT;
KM_API km_status km_function_param(km_function function, uint32_t index, km_param_info* out_info) KM_NOEXCEPT;

/* Launches. */
KM_API km_status km_launch_create(km_stream stream, km_function function, km_launch* out_launch) KM_NOEXCEPT;
KM_API km_status km_launch_destroy(km_launch launch) KM_NOEXCEPT;
KM_API km_status km_launch_set_grid(km_launch launch, uint32_t x, uint32_t y, uint32_t z) KM_NOEXCEPT;
KM_API km_status km_launch_set_block(km_launch launch, uint32_t x, uint32_t y, uint32_t z) KM_NOEXCEPT;
KM_API km_status km_launch_set_shared_bytes(km_launch launch, uint64_t shared_bytes) KM_NOEXCEPT;
KM_API km_status km_launch_arg_slice(km_launch launch, km_slice slice, uint64_t offset_bytes) KM_NOEXCEPT;
KM_API km_status km_launch_arg_address(km_launch launch, uint64_t address) KM_NOEXCEPT;
KM_API km_status km_launch_arg_scalar(km_launch launch, const void* value, uint64_t size_bytes) KM_NOEXCEPT;
KM_API km_status km_launch_submit(km_launch launch) KM_NOEXCEPT;
KM_API km_status km_launch_kernel(km_stream stream, km_function function, const km_launch_config* config, const void* arguments, uint64_t arguments_size_bytes, const km_launch_slice* slices, uint64_t slice_count) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
