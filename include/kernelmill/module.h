/* Modules: kernels and global variables, from PTX, CUDA C++ or files.
 *
 * Example:
 *   km_module module;
 *   km_function function;
 *   uint32_t count;
 *   KM_CHECK(km_module_load_ptx(context, scale_ptx, 0, NULL, &module));
 *   KM_CHECK(km_module_function_count(module, &count));
 *   KM_CHECK(km_module_function(module, "scale", &function));
 *   KM_CHECK(km_module_destroy(module));
 *   KM_CHECK(km_function_destroy(function));
 */
#ifndef KERNELMILL_MODULE_H
#define KERNELMILL_MODULE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Loads PTX text. `ptx_size_bytes` 0: up to its closing zero. `name` is for messages (null:
 * "module.ptx"). Text and name are copied. The handle is the caller's, to be given to
 * km_module_destroy. CUDA: cuModuleLoadDataEx.
 * Blocking: while the text is read and checked; kernels are compiled at their first launch or here.
 * Status: KM_ERROR_INVALID_ARGUMENT when `ptx` is null; KM_ERROR_INVALID_PTX when the text is not
 *   PTX, with line and column; KM_ERROR_UNSUPPORTED_PTX when the device can run none of its
 *   kernels, with the instruction and its line; KM_ERROR_COMPILER when the code generator failed;
 *   KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has not enough memory for its variables; the
 *   sticky error.
 */
KM_API km_status km_module_load_ptx(km_context context, const char* ptx, uint64_t ptx_size_bytes,
                                    const char* name, km_module* out_module) KM_NOEXCEPT;

/** Loads a file of PTX, CUDA C++ or object code: *.ptx and *.cu are recognised by their ending,
 * others by their content. CUDA: cuModuleLoad.
 * Blocking: while the text is read and checked; kernels are compiled at their first launch or here.
 * Status: KM_ERROR_INVALID_ARGUMENT when `path` is null; KM_ERROR_NOT_FOUND when there is no such
 *   file; KM_ERROR_IO when it cannot be read or has more than 256 MiB; KM_ERROR_NOT_SUPPORTED when
 *   it is a compiled image; KM_ERROR_COMPILATION_FAILED when the source has errors, the message has
 *   the first one; KM_ERROR_NVRTC_UNAVAILABLE when NVRTC is not installed, and the message lists
 *   the searched places and the remedy; KM_ERROR_INVALID_PTX when the text is not PTX, with line
 *   and column; KM_ERROR_UNSUPPORTED_PTX when the device can run none of its kernels, with the
 *   instruction and its line; KM_ERROR_COMPILER when the code generator failed;
 *   KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has not enough memory for its variables; the
 *   sticky error.
 */
KM_API km_status km_module_load_file(km_context context, const char* path,
                                     km_module* out_module) KM_NOEXCEPT;

/** Loads the contents of an object file made by km_module_save_object. Nothing is compiled: block
 * sizes that it was made for have their own code, and all others run its code for any size. `name`
 * is for messages (null: "module.kmo"). Data and name are copied. CUDA: cuModuleLoadDataEx. Object
 * files contain machine code that is executed: load only those that are as trustworthy as programs.
 * Blocking: while the data is read and checked.
 * Status: KM_ERROR_INVALID_ARGUMENT when `data` is null, or is not an intact object file;
 *   KM_ERROR_BUILD_MISMATCH when another build of the library made it, with both;
 *   KM_ERROR_NOT_SUPPORTED when it is for instructions that this machine lacks, or the backend has
 *   no compiled modules; KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has not enough memory for
 *   its variables; the sticky error.
 */
KM_API km_status km_module_from_object(km_context context, const void* data, uint64_t size_bytes,
                                       const char* name, km_module* out_module) KM_NOEXCEPT;

/** Compiles all kernels of a module for blocks of these sizes, and for blocks of any size, and
 * writes them to a file, for the instruction set and the build of this library. `blocks` has three
 * numbers (x, y, z) for each of `block_count` sizes; null when there are none. Sizes that a
 * kernel's launch bounds exclude are left out for that kernel; kernels that the device cannot run
 * are left out altogether. CUDA: the cubin of cuLinkComplete.
 * Blocking: while the code is made; tens of milliseconds for each kernel and size.
 * Status: KM_ERROR_INVALID_ARGUMENT when `path` is null, `blocks` is null though `block_count` is
 *   not 0, or `block_count` is above 4,096; KM_ERROR_INVALID_LAUNCH when the device has no blocks
 *   of such a size; KM_ERROR_IO when the file cannot be written; KM_ERROR_UNSUPPORTED_PTX when the
 *   device lacks a feature that a kernel uses with blocks of such a size; KM_ERROR_COMPILER when
 *   the code generator fails; KM_ERROR_NOT_SUPPORTED when the backend has no compiled modules.
 */
KM_API km_status km_module_save_object(km_module module, const char* path, const uint32_t* blocks,
                                       uint64_t block_count) KM_NOEXCEPT;

/** Compiles CUDA C++ for the context's device and loads it. `source_size_bytes` 0: up to its
 * closing zero. `name` is for messages (null: "kernel.cu"). Source and name are copied.
 * Blocking: while the compiler works.
 * Status: KM_ERROR_INVALID_ARGUMENT when `source` is null; KM_ERROR_COMPILATION_FAILED when the
 *   source has errors, the message has the first one; KM_ERROR_NVRTC_UNAVAILABLE when NVRTC is not
 *   installed, and the message lists the searched places and the remedy; KM_ERROR_INVALID_PTX when
 *   the text is not PTX, with line and column; KM_ERROR_UNSUPPORTED_PTX when the device can run
 *   none of its kernels, with the instruction and its line; KM_ERROR_COMPILER when the code
 *   generator failed; KM_ERROR_OUT_OF_DEVICE_MEMORY when the device has not enough memory for its
 *   variables; the sticky error.
 */
KM_API km_status km_module_load_source(km_context context, const char* source,
                                       uint64_t source_size_bytes, const char* name,
                                       km_module* out_module) KM_NOEXCEPT;

/** Loads the PTX of a compiled program. Its kernels can also be looked up by their name
 * expressions.
 * Blocking: while the text is read and checked; kernels are compiled at their first launch or here.
 * Status: KM_ERROR_NOT_FOUND when the program has not been compiled with success;
 *   KM_ERROR_INVALID_PTX when the text is not PTX, with line and column; KM_ERROR_UNSUPPORTED_PTX
 *   when the device can run none of its kernels, with the instruction and its line;
 *   KM_ERROR_COMPILER when the code generator failed; KM_ERROR_OUT_OF_DEVICE_MEMORY when the device
 *   has not enough memory for its variables; the sticky error.
 */
KM_API km_status km_module_load_program(km_context context, km_program program,
                                        km_module* out_module) KM_NOEXCEPT;

/** Drops the caller's handle. Functions and global symbols of the module keep it alive; its code is
 * freed when none of its kernels runs any more. Null is fine. */
KM_API km_status km_module_destroy(km_module module) KM_NOEXCEPT;

/** The number of kernels of a module. */
KM_API km_status km_module_function_count(km_module module, uint32_t* out_count) KM_NOEXCEPT;

/** The name of a kernel by its number, in the order of the text.
 * Status: KM_ERROR_INVALID_ARGUMENT when `index` is not below km_module_function_count.
 */
KM_API km_status km_module_function_name(km_module module, uint32_t index, char* buffer,
                                         uint64_t capacity_bytes,
                                         uint64_t* out_size_bytes) KM_NOEXCEPT;

/** A kernel by its name in the PTX (mangled, unless it is extern "C") or by a name expression of
 * the program. The handle is the caller's, to be given to km_function_destroy, and keeps the
 * module. CUDA: cuModuleGetFunction.
 * Status: KM_ERROR_INVALID_ARGUMENT when `name` is null; KM_ERROR_NOT_FOUND when the module has no
 *   such kernel, with the most similar name and the list of kernels; KM_ERROR_UNSUPPORTED_PTX when
 *   it is one that the device cannot run, with the instruction and its line; KM_ERROR_INVALID_PTX
 *   when the kernel's text is wrong and the module is one of 64 KiB of PTX or more, whose kernels
 *   CPU devices read when they are first asked for.
 */
KM_API km_status km_module_function(km_module module, const char* name,
                                    km_function* out_function) KM_NOEXCEPT;

/** A global or constant variable of a module as a slice, which is the caller's to destroy and keeps
 * the module. CUDA: cuModuleGetGlobal.
 * Status: KM_ERROR_INVALID_ARGUMENT when `name` is null; KM_ERROR_NOT_FOUND when the module has no
 *   such variable; KM_ERROR_INVALID_PTX when its text is wrong, as for km_module_function; the
 *   sticky error.
 */
KM_API km_status km_module_global(km_module module, const char* name,
                                  km_slice* out_slice) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
