/* Tuning: measures which of several ways to launch a kernel is the fastest on a device.
 *
 * Example:
 *   km_tune tune;
 *   uint32_t best;
 *   const float factor = 2, values[256] = {1};
 *   const km_launch_config shapes[] = {{{1, 1, 1}, {256, 1, 1}, 0}, {{4, 1, 1}, {64, 1, 1}, 0}};
 *   KM_CHECK(km_tune_create(device, scale_ptx, 0, "scale", &tune));
 *   for (int i = 0; i < 2; ++i) KM_CHECK(km_tune_add_candidate(tune, &shapes[i], NULL, &best));
 *   KM_CHECK(km_tune_add_buffer(tune, values, sizeof values, KM_TUNE_BUFFER_OUTPUT));
 *   KM_CHECK(km_tune_add_scalar(tune, &factor, sizeof factor));
 *   KM_CHECK(km_tune_run(tune, NULL, KM_TUNE_RUN_AGAIN, &best));
 *   KM_CHECK(km_tune_destroy(tune));
 */
#ifndef KERNELMILL_TUNE_H
#define KERNELMILL_TUNE_H

#include "base.h"
#include "launch.h"

#ifdef __cplusplus
extern "C" {
#endif

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
enum { KM_TUNE_RUN_DEFAULT = 0, KM_TUNE_RUN_AGAIN = 1 /* measure, even if a choice is stored */ };

typedef struct km_tune_result {
  uint32_t struct_size;
  km_status status;           /* KM_NOT_READY: not measured; an error: why it was left out */
  uint64_t median_ns, min_ns; /* duration of one launch */
  uint32_t sample_count;
  uint32_t reserved;
} km_tune_result;
KM_CHECK_SIZE(km_tune_result, 32);

/* Called after the first launch of each candidate of a tuning, which is number `done` of
 * `count`. */
typedef void (*km_tune_callback)(void* user_data, uint32_t done, uint32_t count);

/** A tuning of one kernel of a source, CUDA C++ or PTX, on a device; `kernel` is its name in the
 * source, or a name expression like "scale<float>". `source_size_bytes` 0: up to its closing zero.
 * The handle is the caller's, to be given to km_tune_destroy.
 * Status: KM_ERROR_INVALID_ARGUMENT when `source` or `kernel` is null.
 */
KM_API km_status km_tune_create(km_device device, const char* source, uint64_t source_size_bytes,
                                const char* kernel, km_tune* out_tune) KM_NOEXCEPT;

/** Drops the caller's handle. Null is fine. */
KM_API km_status km_tune_destroy(km_tune tune) KM_NOEXCEPT;

/** Adds one way to launch the kernel: its grid, block and dynamic shared memory, and compiler
 * options, one per line ("-DTILE=16"; null: none), which a PTX source cannot have. Candidates are
 * numbered from 0. Nothing is tried before km_tune_run.
 * Status: KM_ERROR_INVALID_ARGUMENT when `config` is null; KM_ERROR_NOT_PERMITTED while km_tune_run
 *   runs.
 */
KM_API km_status km_tune_add_candidate(km_tune tune, const km_launch_config* config,
                                       const char* options, uint32_t* out_candidate) KM_NOEXCEPT;

/** Adds the kernel's next argument: device memory of this size that holds `data` (null: zeros) when
 * a candidate starts. The data is copied. KM_TUNE_BUFFER_OUTPUT: km_tune_set_check compares the
 * memory.
 * Status: KM_ERROR_INVALID_ARGUMENT when `flags` has unknown bits; KM_ERROR_NOT_PERMITTED while
 *   km_tune_run runs.
 */
KM_API km_status km_tune_add_buffer(km_tune tune, const void* data, uint64_t size_bytes,
                                    km_tune_buffer_flags flags) KM_NOEXCEPT;

/** Adds the kernel's next argument, by value.
 * Status: KM_ERROR_INVALID_ARGUMENT when `value` is null, or `size_bytes` is above 32,764, the
 *   limit of all arguments of a kernel together; KM_ERROR_NOT_PERMITTED while km_tune_run runs.
 */
KM_API km_status km_tune_add_scalar(km_tune tune, const void* value,
                                    uint64_t size_bytes) KM_NOEXCEPT;

/** Requires each candidate to leave the same outputs as the first one that ran; initially off.
 * `tolerance` is for floating point: relative to the larger magnitude, absolute below 1.
 * Status: KM_ERROR_INVALID_ARGUMENT when `check` is not a km_tune_check or `tolerance` is negative;
 *   KM_ERROR_NOT_PERMITTED while km_tune_run runs.
 */
KM_API km_status km_tune_set_check(km_tune tune, km_tune_check check, double tolerance) KM_NOEXCEPT;

/** Limits the time for measuring all candidates together, initially one second. Compilation and the
 * first launch of each, which checks it, do not count. Candidates are then launched in rounds, of
 * which the first `warmup_count` (initially 1) do not count. Launches that are expected to exceed
 * the limit are skipped, except for the few samples that each fast candidate gets in any case.
 * Status: KM_ERROR_NOT_PERMITTED while km_tune_run runs.
 */
KM_API km_status km_tune_set_budget(km_tune tune, uint64_t budget_ns,
                                    uint32_t warmup_count) KM_NOEXCEPT;

/** Calls `callback` after each candidate's first launch, on the thread of km_tune_run; null: no
 * calls.
 * Status: KM_ERROR_NOT_PERMITTED while km_tune_run runs.
 */
KM_API km_status km_tune_set_progress(km_tune tune, km_tune_callback callback,
                                      void* user_data) KM_NOEXCEPT;

/** Measures the candidates by events in the tuning's own context, and returns the number of the one
 * with the best median. Those that do not compile, cannot be launched, fault or fail the check are
 * left out; km_tune_result_get returns the reason. With a `problem`, any text that identifies the
 * size and kind of the data, the choice is stored on disk (KM_CACHE_DIR) for this device, kernel,
 * source and these candidates, and read from there the next time without measuring. A kernel that
 * never ends needs KM_KERNEL_TIMEOUT_MS.
 * Blocking: until all candidates are measured.
 * Status: KM_ERROR_INVALID_ARGUMENT when `flags` has unknown bits, or there are no candidates;
 *   KM_ERROR_NOT_PERMITTED when called inside a callback of this library, or while it runs already;
 *   when no candidate works, the status of the first one, with its text.
 */
KM_API km_status km_tune_run(km_tune tune, const char* problem, km_tune_run_flags flags,
                             uint32_t* out_candidate) KM_RUNS_CALLBACKS;

/** The result of a candidate's last measurement. Set `out_result->struct_size` first.
 * Status: KM_ERROR_INVALID_ARGUMENT when there is no such candidate; KM_ERROR_NOT_PERMITTED while
 *   km_tune_run runs.
 */
KM_API km_status km_tune_result_get(km_tune tune, uint32_t candidate,
                                    km_tune_result* out_result) KM_NOEXCEPT;

/** The reason why a candidate was left out; empty (size 1) if it was not.
 * Status: KM_ERROR_INVALID_ARGUMENT when there is no such candidate; KM_ERROR_NOT_PERMITTED while
 *   km_tune_run runs.
 */
KM_API km_status km_tune_result_message(km_tune tune, uint32_t candidate, char* buffer,
                                        uint64_t capacity_bytes,
                                        uint64_t* out_size_bytes) KM_NOEXCEPT;

/** The kernel compiled with a candidate's options, in a context of the caller's. The handle is the
 * caller's, to be given to km_function_destroy.
 * Blocking: while it is compiled.
 * Status: KM_ERROR_INVALID_ARGUMENT when there is no such candidate, or options are given for PTX;
 *   KM_ERROR_NOT_PERMITTED while km_tune_run runs; KM_ERROR_NOT_FOUND when the source has no such
 *   kernel; the errors of km_program_compile and km_module_load_ptx; the sticky error.
 */
KM_API km_status km_tune_function(km_tune tune, uint32_t candidate, km_context context,
                                  km_function* out_function) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
