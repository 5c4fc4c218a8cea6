/* Errors: statuses and their texts, the failures of a thread, and those of a context.
 *
 * Example:
 *   char message[4700];
 *   const char* advice;
 *   km_status status = km_slice_fill_u8(stream, x, 0, 0, 1 << 20);
 *   if (status != KM_SUCCESS) {
 *     KM_CHECK(km_last_error_message(message, sizeof message, NULL));
 *     KM_CHECK(km_status_recovery(status, &advice));
 *     printf("%s\n%s\n", message, advice);
 *   }
 */
#ifndef KERNELMILL_ERROR_H
#define KERNELMILL_ERROR_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* Consecutive failures of one function on a context for one reason. */
enum { KM_CONTEXT_ERROR_CAPACITY = 64 }; /* records that a context keeps */

typedef struct km_error_record {
  uint32_t struct_size;
  km_status status;
  km_error_category category;
  uint32_t reserved;
  uint64_t id;          /* rises with each record of the context */
  uint64_t count;       /* number of failures */
  int64_t time_ns;      /* first failure, since the Unix epoch */
  int64_t last_time_ns; /* last failure, since the Unix epoch */
  int64_t native_code;
  char call[64];      /* "km_launch_submit" */
  char message[1024]; /* truncated if longer */
} km_error_record;
KM_CHECK_SIZE(km_error_record, 1144);

/* The number of times that a status occurred. Its layout never changes. */
typedef struct km_error_count {
  km_status status;
  km_error_category category;
  uint64_t count;
  int64_t last_time_ns; /* since the Unix epoch */
} km_error_count;
KM_CHECK_SIZE(km_error_count, 24);

/** The name of a status as it is spelled in this header, for example "KM_ERROR_NOT_FOUND". The text
 * is static.
 * Status: KM_ERROR_INVALID_ARGUMENT when `status` is not a status of this library.
 */
KM_API km_status km_status_name(km_status status, const char** out_name) KM_NOEXCEPT;

/** One sentence on what a status means. The text is static.
 * Status: KM_ERROR_INVALID_ARGUMENT when `status` is not a status of this library.
 */
KM_API km_status km_status_description(km_status status, const char** out_description) KM_NOEXCEPT;

/** One sentence with the remedy for a status. The text is static.
 * Status: KM_ERROR_INVALID_ARGUMENT when `status` is not a status of this library.
 */
KM_API km_status km_status_recovery(km_status status, const char** out_suggestion) KM_NOEXCEPT;

/** The kind of failure that a status belongs to.
 * Status: KM_ERROR_INVALID_ARGUMENT when `status` is not a status of this library.
 */
KM_API km_status km_status_category(km_status status, km_error_category* out_category) KM_NOEXCEPT;

/** The text of the calling thread's last call that failed: it names the function, the wrong values
 * and the remedy. Empty (size 1) before the first failure. Successful calls leave it unchanged, and
 * so do this call and km_last_error_native_code, whatever they return. Works in a forked child. */
KM_API km_status km_last_error_message(char* buffer, uint64_t capacity_bytes,
                                       uint64_t* out_size_bytes) KM_NOEXCEPT;

/** The backend's own code of the calling thread's last failure (CUresult, errno ...); 0 if there is
 * none. CUDA: the CUresult itself. */
KM_API km_status km_last_error_native_code(int64_t* out_code) KM_NOEXCEPT;

/** The status of the calling thread's last call that failed; KM_SUCCESS if there is none. Works in
 * a forked child, and so does km_last_error_take. CUDA runtime: cudaPeekAtLastError. */
KM_API km_status km_last_error_status(km_status* out_status) KM_NOEXCEPT;

/** Like km_last_error_status, but also clears the thread's error with its text and code. The error
 * of a context stays: see km_context_take_error. CUDA runtime: cudaGetLastError. */
KM_API km_status km_last_error_take(km_status* out_status) KM_NOEXCEPT;

/** The status for a result of the CUDA driver (CUresult). The mapping never changes; it covers all
 * results of CUDA 13.
 * Status: KM_ERROR_INVALID_ARGUMENT when CUDA has no such result.
 */
KM_API km_status km_status_from_cuda(int32_t cuda_result, km_status* out_status) KM_NOEXCEPT;

/** The CUDA driver's result (CUresult) that corresponds to `status`. The mapping never changes.
 * Status: KM_ERROR_INVALID_ARGUMENT when `status` is not a status of this library.
 */
KM_API km_status km_status_to_cuda(km_status status, int32_t* out_cuda_result) KM_NOEXCEPT;

/** The name of a result of the CUDA driver, for example "CUDA_ERROR_INVALID_VALUE". The text is
 * static. CUDA: cuGetErrorName.
 * Status: KM_ERROR_INVALID_ARGUMENT when CUDA has no such result.
 */
KM_API km_status km_cuda_result_name(int32_t cuda_result, const char** out_name) KM_NOEXCEPT;

/** The context's error: the sticky one of a failed kernel, otherwise that of the last call on the
 * context that failed, otherwise KM_SUCCESS. CUDA runtime: cudaPeekAtLastError. */
KM_API km_status km_context_error(km_context context, km_status* out_status) KM_NOEXCEPT;

/** The text of the error that km_context_error gives; empty (size 1) if there is none. Every thread
 * sees the same text. */
KM_API km_status km_context_error_message(km_context context, char* buffer, uint64_t capacity_bytes,
                                          uint64_t* out_size_bytes) KM_NOEXCEPT;

/** Like km_context_error, but also clears the error unless it is sticky. CUDA runtime:
 * cudaGetLastError. */
KM_API km_status km_context_take_error(km_context context, km_status* out_status) KM_NOEXCEPT;

/** The backend's own code of the error that km_context_error gives (CUresult, errno ...); 0 if
 * there is none. */
KM_API km_status km_context_error_native_code(km_context context, int64_t* out_code) KM_NOEXCEPT;

/** The latest failures of calls on the context and its children, the newest first, up to
 * `capacity`; `*out_count` is the number of records, at most KM_CONTEXT_ERROR_CAPACITY, beyond
 * which the oldest are dropped. A failure of the same call for the same reason as the one before it
 * is counted in the earlier record. A reset keeps them. Calls without a live handle belong to no
 * context. Set the struct_size of the first structure, which holds for all. Null for `out_records`
 * and 0 for `capacity` only count.
 * Status: KM_ERROR_INVALID_ARGUMENT when `out_count` is null, `out_records` is null and `capacity`
 *   not 0, or the struct_size is below 4.
 */
KM_API km_status km_context_error_history(km_context context, uint64_t capacity,
                                          km_error_record* out_records,
                                          uint64_t* out_count) KM_NOEXCEPT;

/** Counts of each status that occurred, in the order of their values, up to `capacity` of them;
 * `*out_count` is the number of such statuses. All failures count, including those that
 * km_context_error_history has dropped. Null for `out_counts` and 0 for `capacity` only count.
 * Status: KM_ERROR_INVALID_ARGUMENT when `out_count` is null, or `out_counts` is null and
 *   `capacity` not 0.
 */
KM_API km_status km_context_error_counts(km_context context, uint64_t capacity,
                                         km_error_count* out_counts,
                                         uint64_t* out_count) KM_NOEXCEPT;

/** Clears the history of failures and their counts. The context's error stays. */
KM_API km_status km_context_clear_error_history(km_context context) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
