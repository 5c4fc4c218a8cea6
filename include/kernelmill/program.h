/* Programs: CUDA C++ to PTX, by NVRTC.
 *
 * Example:
 *   km_program program;
 *   km_module module;
 *   const char* source = "extern \"C\" __global__ void one(int* x) { *x = 1; }";
 *   KM_CHECK(km_program_create(source, 0, "one.cu", &program));
 *   KM_CHECK(km_program_add_option(program, "--std=c++17"));
 *   KM_CHECK(km_program_compile(program));
 *   KM_CHECK(km_module_load_program(context, program, &module));
 *   KM_CHECK(km_program_destroy(program));
 *   KM_CHECK(km_module_destroy(module));
 */
#ifndef KERNELMILL_PROGRAM_H
#define KERNELMILL_PROGRAM_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A CUDA C++ source, to be compiled to PTX. `source_size_bytes` 0: up to its closing zero. Source
 * and name are copied; `name` is for messages (null: "kernel.cu"). The handle is the caller's, to
 * be given to km_program_destroy. CUDA: nvrtcCreateProgram.
 * Status: KM_ERROR_INVALID_ARGUMENT when `source` is null.
 */
KM_API km_status km_program_create(const char* source, uint64_t source_size_bytes, const char* name,
                                   km_program* out_program) KM_NOEXCEPT;

/** Drops the caller's handle. Modules made from it stay. Null is fine. */
KM_API km_status km_program_destroy(km_program program) KM_NOEXCEPT;

/** Adds an option for the next compilation, in NVRTC's spelling, for example "--use_fast_math" or
 * "-DN=4". It is copied.
 * Status: KM_ERROR_INVALID_ARGUMENT when `option` is null.
 */
KM_API km_status km_program_add_option(km_program program, const char* option) KM_NOEXCEPT;

/** Adds a header that `#include "name"` finds in the next compilation. `source_size_bytes` 0: up to
 * its closing zero; a null `source` is an empty header. Copied.
 * Status: KM_ERROR_INVALID_ARGUMENT when `name` is null, empty, longer than 4,095 bytes or the name
 *   of another header, or when `source` is null and its size is not 0.
 */
KM_API km_status km_program_add_header(km_program program, const char* name, const char* source,
                                       uint64_t source_size_bytes) KM_NOEXCEPT;

/** Adds a C++ name, such as "scale<float>", that the next compilation keeps;
 * km_program_lowered_name then returns its name in the PTX. The name is copied. CUDA:
 * nvrtcAddNameExpression.
 * Status: KM_ERROR_INVALID_ARGUMENT when `expression` is null.
 */
KM_API km_status km_program_add_name_expression(km_program program,
                                                const char* expression) KM_NOEXCEPT;

/** Compiles with the options, headers and name expressions added so far; a program may be compiled
 * again after more were added. CUDA: nvrtcCompileProgram.
 * Blocking: while the compiler works, from tens of milliseconds to seconds; compilations take
 *   turns.
 * Status: KM_ERROR_COMPILATION_FAILED when the source has errors, km_program_log lists all of them;
 *   KM_ERROR_NVRTC_UNAVAILABLE when NVRTC is not installed, and the message lists the searched
 *   places and the remedy; KM_ERROR_INVALID_ARGUMENT when NVRTC does not know an option.
 */
KM_API km_status km_program_compile(km_program program) KM_NOEXCEPT;

/** The messages of the latest compilation, including warnings of a successful one; empty (size 1)
 * before the first. CUDA: nvrtcGetProgramLog. */
KM_API km_status km_program_log(km_program program, char* buffer, uint64_t capacity_bytes,
                                uint64_t* out_size_bytes) KM_NOEXCEPT;

/** The PTX of the last compilation. CUDA: nvrtcGetPTX.
 * Status: KM_ERROR_NOT_FOUND when the program has not been compiled successfully.
 */
KM_API km_status km_program_ptx(km_program program, char* buffer, uint64_t capacity_bytes,
                                uint64_t* out_size_bytes) KM_NOEXCEPT;

/** The name in the PTX of a name expression. CUDA: nvrtcGetLoweredName.
 * Status: KM_ERROR_NOT_FOUND when the program has not been compiled successfully or the expression
 *   was not added before; KM_ERROR_INVALID_ARGUMENT when `expression` is null.
 */
KM_API km_status km_program_lowered_name(km_program program, const char* expression, char* buffer,
                                         uint64_t capacity_bytes,
                                         uint64_t* out_size_bytes) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
