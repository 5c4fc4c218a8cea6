/* Launches of kernels with their arguments, built step by step or in one call.
 *
 * Example:
 *   const float factor = 2;
 *   km_launch launch;
 *   KM_CHECK(km_launch_create(stream, scale, &launch));
 *   KM_CHECK(km_launch_set_grid(launch, 1, 1, 1));
 *   KM_CHECK(km_launch_set_block(launch, 256, 1, 1));
 *   KM_CHECK(km_launch_arg_slice(launch, x, 0));
 *   KM_CHECK(km_launch_arg_scalar(launch, &factor, sizeof factor));
 *   KM_CHECK(km_launch_submit(launch));
 *   KM_CHECK(km_launch_destroy(launch));
 *   KM_CHECK(km_stream_synchronize(stream));
 */
#ifndef KERNELMILL_LAUNCH_H
#define KERNELMILL_LAUNCH_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Inputs of km_launch_kernel. Its layout never changes. */
typedef struct km_launch_config {
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t shared_bytes; /* dynamic shared memory per block */
} km_launch_config;
KM_CHECK_SIZE(km_launch_config, 32);

typedef struct km_launch_slice {
  uint32_t parameter; /* the parameter's number, from 0 */
  uint32_t reserved;  /* 0 */
  uint64_t slice;     /* the handle's value */
  uint64_t offset_bytes;
} km_launch_slice;
KM_CHECK_SIZE(km_launch_slice, 24);

/* A kernel's use of a slice argument. */
typedef int32_t km_access;
enum {
  KM_ACCESS_UNKNOWN = 0, /* counts as read and written */
  KM_ACCESS_READ = 1,
  KM_ACCESS_READ_WRITE = 2
};

/* Input of km_launch_kernel_operands. Its layout never changes. */
typedef struct km_launch_operand {
  uint32_t parameter; /* the parameter's number, from 0 */
  km_access access;
  uint64_t slice; /* the handle's value */
  uint64_t offset_bytes;
  uint64_t size_bytes; /* number of bytes that the kernel uses from the offset on; 0: all of the
                        * slice */
} km_launch_operand;
KM_CHECK_SIZE(km_launch_operand, 32);

/** A launch that is built step by step: set grid and block, pass one argument per parameter in
 * order, submit. The handle is the caller's, to be given to km_launch_destroy, and keeps stream and
 * function. */
KM_API km_status km_launch_create(km_stream stream, km_function function,
                                  km_launch* out_launch) KM_NOEXCEPT;

/** Drops the caller's handle. Submitted launches still run. Null is fine. */
KM_API km_status km_launch_destroy(km_launch launch) KM_NOEXCEPT;

/** Sets the number of blocks of the grid. It is checked when the launch is submitted.
 * Threads: any, but one at a time for the same launch, which takes its arguments in order.
 */
KM_API km_status km_launch_set_grid(km_launch launch, uint32_t x, uint32_t y,
                                    uint32_t z) KM_NOEXCEPT;

/** Sets the number of threads of a block. It is checked when the launch is submitted.
 * Threads: any, but one at a time for the same launch, which takes its arguments in order.
 */
KM_API km_status km_launch_set_block(km_launch launch, uint32_t x, uint32_t y,
                                     uint32_t z) KM_NOEXCEPT;

/** Sets the dynamic shared memory of each block, initially 0. It is checked when the launch is
 * submitted.
 * Threads: any, but one at a time for the same launch, which takes its arguments in order.
 */
KM_API km_status km_launch_set_shared_bytes(km_launch launch, uint64_t shared_bytes) KM_NOEXCEPT;

/** Sets the number of blocks of a cluster, which can use each other's shared memory and wait for
 * each other. 0, 0, 0 (the initial value) selects the size that the kernel was compiled for,
 * otherwise no clusters. It is checked when the launch is submitted. CUDA:
 * CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION of cuLaunchKernelEx.
 * Threads: any, but one at a time for the same launch, which takes its arguments in order.
 */
KM_API km_status km_launch_set_cluster(km_launch launch, uint32_t x, uint32_t y,
                                       uint32_t z) KM_NOEXCEPT;

/** Lets all blocks of the grid wait for each other (grid.sync() of cooperative groups): 1, or 0,
 * the initial value. If they do not all fit on the device at once, the launch cannot be submitted.
 * CUDA: CU_LAUNCH_ATTRIBUTE_COOPERATIVE of cuLaunchKernelEx.
 * Threads: any, but one at a time for the same launch, which takes its arguments in order.
 * Status: KM_ERROR_INVALID_ARGUMENT when `cooperative` is neither 0 nor 1.
 */
KM_API km_status km_launch_set_cooperative(km_launch launch, uint32_t cooperative) KM_NOEXCEPT;

/** Passes the address `offset_bytes` into a slice as the next argument. The memory is kept until
 * the launches are done.
 * Threads: any, but one at a time for the same launch, which takes its arguments in order.
 * Status: KM_ERROR_INVALID_LAUNCH when the kernel has no further parameter or the next one has
 *   another size, as the message says; KM_ERROR_OUT_OF_BOUNDS when the offset is beyond the end of
 *   the slice.
 */
KM_API km_status km_launch_arg_slice(km_launch launch, km_slice slice,
                                     uint64_t offset_bytes) KM_NOEXCEPT;

/** Like km_launch_arg_slice, but also declares how the kernel uses the slice: `size_bytes` from the
 * offset on (0: all of the slice), and whether it only reads them. In a context with
 * KM_CONTEXT_ORDERED, uses on other streams that do not conflict with this one need not wait. The
 * caller is responsible for a kernel that keeps to the declaration.
 * Threads: any, but one at a time for the same launch, which takes its arguments in order.
 * Status: KM_ERROR_INVALID_LAUNCH when the kernel has no further parameter or the next one has
 *   another size, as the message says; KM_ERROR_OUT_OF_BOUNDS when offset and size are beyond the
 *   end of the slice; KM_ERROR_INVALID_ARGUMENT when `access` is not a km_access.
 */
KM_API km_status km_launch_arg_slice_access(km_launch launch, km_slice slice, uint64_t offset_bytes,
                                            uint64_t size_bytes, km_access access) KM_NOEXCEPT;

/** Passes a raw device address as the next argument. It is not checked, and the caller has to keep
 * its memory alive.
 * Threads: any, but one at a time for the same launch, which takes its arguments in order.
 * Status: KM_ERROR_INVALID_LAUNCH when the kernel has no further parameter or the next one has
 *   another size, as the message says.
 */
KM_API km_status km_launch_arg_address(km_launch launch, uint64_t address) KM_NOEXCEPT;

/** Passes a value or structure of `size_bytes`, which is copied, as the next argument.
 * Threads: any, but one at a time for the same launch, which takes its arguments in order.
 * Status: KM_ERROR_INVALID_ARGUMENT when `value` is null; KM_ERROR_INVALID_LAUNCH when the kernel
 *   has no further parameter or the next one has another size, as the message says.
 */
KM_API km_status km_launch_arg_scalar(km_launch launch, const void* value,
                                      uint64_t size_bytes) KM_NOEXCEPT;

/** Like km_launch_arg_scalar, but also states the type of the value: a number (1 lane) or a vector
 * of 2 to 4. An integer for a floating-point parameter, or the reverse, is refused. KM_ARGUMENT of
 * helpers.h derives the type from that of a C variable.
 * Threads: any, but one at a time for the same launch, which takes its arguments in order.
 * Status: KM_ERROR_INVALID_ARGUMENT when `value` is null, or the type has no vectors with that
 *   number of lanes; KM_ERROR_INVALID_LAUNCH when the kernel has no further parameter or the next
 *   one is of another size or kind, as the message says.
 */
KM_API km_status km_launch_arg_value(km_launch launch, const void* value, km_element_type type,
                                     uint32_t lanes) KM_NOEXCEPT;

/** Queues the kernel in the stream. Afterwards the launch may be submitted again: unchanged, or
 * with all its arguments passed again. CUDA: cuLaunchKernel.
 * Blocking: no, but the first launch of a kernel may compile it.
 * Threads: any, but one at a time for the same launch, which takes its arguments in order.
 * Status: KM_ERROR_INVALID_LAUNCH when grid, block, shared memory or arguments do not fit the
 *   kernel or the device, as the message says; nothing was run then; KM_ERROR_UNSUPPORTED_PTX when
 *   the device cannot run the kernel in this shape; KM_ERROR_COMPILER when the code generator
 *   failed; KM_ERROR_OUT_OF_DEVICE_MEMORY when there is no room for the launch; the sticky error.
 */
KM_API km_status km_launch_submit(km_launch launch) KM_NOEXCEPT;

/** Launches a kernel with one call, for bindings. `arguments` holds the arguments at the offsets
 * that km_function_param gives, `arguments_size_bytes` in all: the end of the last parameter. For
 * each entry of `slices`, the address of that slice plus its offset becomes the value of that
 * parameter, and the memory is kept until the kernel is done. Everything is copied before the call
 * returns. CUDA: cuLaunchKernel.
 * Blocking: no, but the first launch of a kernel may compile it.
 * Status: KM_ERROR_INVALID_HANDLE when an entry of `slices` is not a live slice;
 *   KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `config` is null, `arguments` or `slices` is null and its size
 *   is not 0, or a `reserved` is not 0; KM_ERROR_OUT_OF_BOUNDS when the offset of an entry is
 *   beyond the end of its slice; KM_ERROR_INVALID_LAUNCH when grid, block, shared memory or
 *   arguments do not fit the kernel or the device, as the message says; nothing was run then;
 *   KM_ERROR_UNSUPPORTED_PTX when the device cannot run the kernel in this shape; KM_ERROR_COMPILER
 *   when the code generator failed; KM_ERROR_OUT_OF_DEVICE_MEMORY when there is no room for the
 *   launch; the sticky error.
 */
KM_API km_status km_launch_kernel(km_stream stream, km_function function,
                                  const km_launch_config* config, const void* arguments,
                                  uint64_t arguments_size_bytes, const km_launch_slice* slices,
                                  uint64_t slice_count) KM_NOEXCEPT;

/** Like km_launch_kernel, but also declares for each slice how the kernel uses it, as
 * km_launch_arg_slice_access does. CUDA: cuLaunchKernel.
 * Blocking: no, but the first launch of a kernel may compile it.
 * Status: KM_ERROR_INVALID_HANDLE when an entry of `operands` is not a live slice;
 *   KM_ERROR_CONTEXT_LOST when the context of one of the objects was reset after its creation;
 *   KM_ERROR_INVALID_ARGUMENT when `config` is null, `arguments` or `operands` is null and its size
 *   is not 0, or an `access` is not a km_access; KM_ERROR_OUT_OF_BOUNDS when offset and size of an
 *   entry are beyond the end of its slice; KM_ERROR_INVALID_LAUNCH when grid, block, shared memory
 *   or arguments do not fit the kernel or the device, as the message says; nothing was run then;
 *   KM_ERROR_UNSUPPORTED_PTX when the device cannot run the kernel in this shape; KM_ERROR_COMPILER
 *   when the code generator failed; KM_ERROR_OUT_OF_DEVICE_MEMORY when there is no room for the
 *   launch; the sticky error.
 */
KM_API km_status km_launch_kernel_operands(km_stream stream, km_function function,
                                           const km_launch_config* config, const void* arguments,
                                           uint64_t arguments_size_bytes,
                                           const km_launch_operand* operands,
                                           uint64_t operand_count) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
