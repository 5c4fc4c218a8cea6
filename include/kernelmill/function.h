/* Functions: a kernel's attributes, occupancy and parameters.
 *
 * Example:
 *   km_param_info info;
 *   uint32_t count;
 *   int64_t registers;
 *   info.struct_size = sizeof info;
 *   KM_CHECK(km_function_attribute_get(scale, KM_FUNCTION_ATTRIBUTE_REGISTERS, &registers));
 *   KM_CHECK(km_function_param_count(scale, &count));
 *   for (uint32_t i = 0; i < count; ++i) {
 *     KM_CHECK(km_function_param(scale, i, &info));
 *     printf("%u bytes at %u\n", (unsigned)info.size_bytes, (unsigned)info.offset_bytes);
 *   }
 */
#ifndef KERNELMILL_FUNCTION_H
#define KERNELMILL_FUNCTION_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t km_occupancy_limit;
enum {
  KM_OCCUPANCY_LIMIT_INVALID = 0,
  KM_OCCUPANCY_LIMIT_WARPS = 1,
  KM_OCCUPANCY_LIMIT_REGISTERS = 2,
  KM_OCCUPANCY_LIMIT_SHARED_MEMORY = 3,
  KM_OCCUPANCY_LIMIT_BLOCKS = 4
};

/* The number of blocks of a kernel that a multiprocessor holds at a time, and the resource that
 * limits it. */
typedef struct km_occupancy {
  uint32_t struct_size;
  uint32_t active_blocks;
  uint32_t active_warps, max_warps; /* warps per multiprocessor */
  uint32_t percent;                 /* active share of max_warps */
  km_occupancy_limit limit;         /* the resource that allows the fewest blocks; the first of
                                     * several */
  /* Number of blocks that each resource alone would allow; UINT32_MAX: any number. */
  uint32_t blocks_by_warps, blocks_by_registers, blocks_by_shared_memory, blocks_by_blocks;
  uint32_t registers_per_block; /* rounded up to the device's allocation granularity */
  uint32_t reserved;
  uint64_t shared_bytes_per_block; /* rounded up to the device's allocation granularity */
} km_occupancy;
KM_CHECK_SIZE(km_occupancy, 56);

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
  KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT = 12, /* settable; -1: the driver chooses */
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
  KM_EXECUTION_MODE_RUN_TO_COMPLETION = 1,  /* mode a: a block's warps, one after the other */
  KM_EXECUTION_MODE_FIBERS = 2,             /* mode b: each warp is a fiber */
  KM_EXECUTION_MODE_INDEPENDENT_THREADS = 3 /* mode c: independent threads */
};

typedef int32_t km_param_kind;
enum {
  KM_PARAM_KIND_UNKNOWN = 0, /* 64 bits that may be an address: CUDA C++ does not tell them apart in
                              * PTX */
  KM_PARAM_KIND_POINTER = 1, /* the kernel uses it as an address */
  KM_PARAM_KIND_VALUE = 2
};

typedef int32_t km_param_type;
enum {
  KM_PARAM_TYPE_UNKNOWN = 0, /* bits, an array or a structure, or unknown to the backend */
  KM_PARAM_TYPE_INTEGER = 1, /* signed or unsigned, which PTX from CUDA C++ does not tell */
  KM_PARAM_TYPE_FLOAT = 2
};

typedef struct km_param_info {
  uint32_t struct_size;
  km_param_kind kind;
  uint64_t size_bytes, align_bytes, offset_bytes;
  km_param_type value_type;
  uint32_t reserved;
} km_param_info;
KM_CHECK_SIZE(km_param_info, 40);

/* The types of kernels' parameters in CUDA C++, which PTX does not record. */
typedef int32_t km_signature_kind;
enum {
  KM_SIGNATURE_KIND_UNKNOWN = 0, /* neither the source nor the kernel's name tells the type */
  KM_SIGNATURE_KIND_POINTER = 1, /* a pointer or a reference; `element` is what it points to */
  KM_SIGNATURE_KIND_VALUE = 2    /* `element` is the type of the value itself */
};

typedef struct km_param_signature {
  uint32_t struct_size;
  km_signature_kind kind;
  km_element_type element;
  uint32_t lanes;                    /* 2 to 4 for a vector such as float4; 1 for a scalar; 0 if
                                      * unknown */
  uint32_t is_const;                 /* 1: the elements behind the pointer are const */
  uint32_t element_size_bytes;       /* size of all lanes together; 0: unknown */
  uint64_t size_bytes, offset_bytes; /* those of the parameter, like in km_param_info */
} km_param_signature;
KM_CHECK_SIZE(km_param_signature, 40);

/* Dynamic shared memory of a block of `block_threads`; called on the thread of the call. */
typedef uint64_t (*km_shared_bytes_callback)(void* user_data, uint32_t block_threads);

/** Drops the caller's handle. Launches under way still complete. Null is fine. */
KM_API km_status km_function_destroy(km_function function) KM_NOEXCEPT;

/** The kernel's name in the PTX. */
KM_API km_status km_function_name(km_function function, char* buffer, uint64_t capacity_bytes,
                                  uint64_t* out_size_bytes) KM_NOEXCEPT;

/** One property of a kernel. CUDA: cuFuncGetAttribute.
 * Status: KM_ERROR_INVALID_ARGUMENT when `attribute` is not a function attribute;
 *   KM_ERROR_NOT_SUPPORTED when the device cannot tell.
 */
KM_API km_status km_function_attribute_get(km_function function, km_function_attribute attribute,
                                           int64_t* out_value) KM_NOEXCEPT;

/** Sets an attribute that is settable: KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES, which allows
 * launches with more dynamic shared memory than the default limit, or one of the hints. CUDA:
 * cuFuncSetAttribute.
 * Status: KM_ERROR_INVALID_ARGUMENT when the attribute cannot be set or cannot have this `value`,
 *   as the message says.
 */
KM_API km_status km_function_attribute_set(km_function function, km_function_attribute attribute,
                                           int64_t value) KM_NOEXCEPT;

/** Makes machine code now, so that the first launch with blocks of this size need not wait for it.
 * The call is optional, and does nothing if the device needs no code of its own.
 * Blocking: yes, until the code is made.
 * Status: KM_ERROR_INVALID_LAUNCH when no launch of the kernel can have such blocks;
 *   KM_ERROR_UNSUPPORTED_PTX when the device lacks a feature that the kernel uses with blocks of
 *   this size; KM_ERROR_COMPILER when the code generator fails.
 */
KM_API km_status km_function_prepare(km_function function, uint32_t block_x, uint32_t block_y,
                                     uint32_t block_z) KM_NOEXCEPT;

/** The number of blocks of `block_threads` threads, with `shared_bytes` of dynamic shared memory
 * each, that a multiprocessor holds at a time, as limited by its warps, registers, shared memory
 * and number of blocks. active_blocks is 0 if a launch of such blocks would be refused: they do not
 * fit, or have more than KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES. Set
 * `out_occupancy->struct_size` first. CUDA: cuOccupancyMaxActiveBlocksPerMultiprocessor.
 * Status: KM_ERROR_INVALID_ARGUMENT when `block_threads` is 0; KM_ERROR_NOT_SUPPORTED when the
 *   device does not tell its limits.
 */
KM_API km_status km_function_occupancy(km_function function, uint32_t block_threads,
                                       uint64_t shared_bytes,
                                       km_occupancy* out_occupancy) KM_NOEXCEPT;

/** The block size that keeps the most threads of a multiprocessor busy, and the smallest grid that
 * fills the device with such blocks. Each block has `shared_bytes` of dynamic shared memory, or as
 * much as `shared_of` returns for its size (null: `shared_bytes` for all); sizes with more than
 * KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES do not fit. Blocks have at most
 * `max_block_threads` threads; 0: as many as the kernel can have. CUDA:
 * cuOccupancyMaxPotentialBlockSize.
 * Status: KM_ERROR_INVALID_LAUNCH when blocks of no size fit; KM_ERROR_NOT_SUPPORTED when the
 *   device does not tell its limits.
 */
KM_API km_status km_function_best_block(km_function function, uint64_t shared_bytes,
                                        km_shared_bytes_callback shared_of, void* user_data,
                                        uint32_t max_block_threads, uint32_t* out_block_threads,
                                        uint32_t* out_grid_blocks) KM_RUNS_CALLBACKS;

/** The largest amount of dynamic shared memory per block with which `block_count` blocks of
 * `block_threads` threads fit on a multiprocessor, at most
 * KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES. CUDA: cuOccupancyAvailableDynamicSMemPerBlock.
 * Status: KM_ERROR_INVALID_ARGUMENT when `block_count` or `block_threads` is 0;
 *   KM_ERROR_INVALID_LAUNCH when that many blocks do not fit, with the reason;
 *   KM_ERROR_NOT_SUPPORTED when the device does not tell its limits.
 */
KM_API km_status km_function_available_shared_bytes(km_function function, uint32_t block_count,
                                                    uint32_t block_threads,
                                                    uint64_t* out_shared_bytes) KM_NOEXCEPT;

/** The number of clusters of `cluster_blocks` blocks that the device holds at a time, each block
 * with `block_threads` threads and `shared_bytes` of dynamic shared memory. CUDA:
 * cuOccupancyMaxActiveClusters.
 * Status: KM_ERROR_INVALID_ARGUMENT when `block_threads` or `cluster_blocks` is 0, or
 *   `cluster_blocks` is more than a cluster of the kernel may have; KM_ERROR_NOT_SUPPORTED when the
 *   device has no clusters of more than one block, or does not tell its limits.
 */
KM_API km_status km_function_max_active_clusters(km_function function, uint32_t block_threads,
                                                 uint64_t shared_bytes, uint32_t cluster_blocks,
                                                 uint32_t* out_clusters) KM_NOEXCEPT;

/** The number of a kernel's parameters. */
KM_API km_status km_function_param_count(km_function function, uint32_t* out_count) KM_NOEXCEPT;

/** Size, alignment and place in the argument buffer of a parameter, whether it is an address, and
 * whether PTX declares it as an integer or as a floating-point number. Set `out_info->struct_size`
 * first. CUDA: cuFuncGetParamInfo.
 * Status: KM_ERROR_INVALID_ARGUMENT when `index` is not below km_function_param_count.
 */
KM_API km_status km_function_param(km_function function, uint32_t index,
                                   km_param_info* out_info) KM_NOEXCEPT;

/** The type of a parameter as CUDA C++ declares it. It is known for kernels that this library
 * compiles from CUDA C++, for the PTX that it generates from such a source, for object files made
 * from that PTX, and for every kernel with a mangled C++ name. Otherwise the kind is
 * KM_SIGNATURE_KIND_UNKNOWN, which is not an error. Set `out_signature->struct_size` first.
 * Status: KM_ERROR_INVALID_ARGUMENT when `index` is not below km_function_param_count.
 */
KM_API km_status km_function_param_signature(km_function function, uint32_t index,
                                             km_param_signature* out_signature) KM_NOEXCEPT;

/** Checks whether a value fits a parameter; bindings call it to get the text of a mismatch. The
 * value has `size_bytes`; `type` and `lanes` describe it: a number or a vector of numbers;
 * KM_ELEMENT_TYPE_POINTER for slices and addresses; KM_ELEMENT_TYPE_UNKNOWN with 0 lanes for
 * structures and all other values.
 * Status: KM_ERROR_INVALID_LAUNCH when the kernel has no such parameter, or the size is another, or
 *   an integer or address is given for a floating-point number, or the reverse: the message has the
 *   parameter, its type if known, the argument, and a suitable argument; KM_ERROR_INVALID_ARGUMENT
 *   when no element type has that number of lanes.
 */
KM_API km_status km_function_check_argument(km_function function, uint32_t index,
                                            km_element_type type, uint32_t lanes,
                                            uint64_t size_bytes) KM_NOEXCEPT;

/** The name of the element type of a parameter as CUDA C++ spells it: "float", "float4",
 * "ns::Point<int>"; of a pointer, the name of what it points to. Empty (size 1) if it is unknown.
 * Status: KM_ERROR_INVALID_ARGUMENT when `index` is not below km_function_param_count.
 */
KM_API km_status km_function_param_type_name(km_function function, uint32_t index, char* buffer,
                                             uint64_t capacity_bytes,
                                             uint64_t* out_size_bytes) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
