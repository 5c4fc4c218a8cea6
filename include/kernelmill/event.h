/* Events: marks in a stream, for waits and time measurements.
 *
 * Example:
 *   km_event start, end;
 *   int64_t elapsed_ns;
 *   KM_CHECK(km_event_create(context, KM_EVENT_DEFAULT, &start));
 *   KM_CHECK(km_event_create(context, KM_EVENT_DEFAULT, &end));
 *   KM_CHECK(km_event_record(start, stream));
 *   KM_CHECK(km_slice_fill_u8(stream, x, 0, 1, 256));
 *   KM_CHECK(km_event_record(end, stream));
 *   KM_CHECK(km_event_synchronize(end));
 *   KM_CHECK(km_event_elapsed_ns(start, end, &elapsed_ns));
 *   printf("%.3f us\n", (double)elapsed_ns / 1000);
 */
#ifndef KERNELMILL_EVENT_H
#define KERNELMILL_EVENT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t km_event_flags;
enum { KM_EVENT_DEFAULT = 0, KM_EVENT_DISABLE_TIMING = 1 };

/** A new event, to mark a point in a stream: KM_EVENT_DEFAULT records the time there,
 * KM_EVENT_DISABLE_TIMING does not. The handle is the caller's, to be given to km_event_destroy.
 * CUDA: cuEventCreate.
 * Status: KM_ERROR_INVALID_ARGUMENT when `flags` has unknown bits; the sticky error.
 */
KM_API km_status km_event_create(km_context context, km_event_flags flags,
                                 km_event* out_event) KM_NOEXCEPT;

/** Drops the caller's handle. Streams that wait for it keep waiting. Null is fine. */
KM_API km_status km_event_destroy(km_event event) KM_NOEXCEPT;

/** The context of an event, as a new handle that is the caller's to destroy. */
KM_API km_status km_event_context(km_event event, km_context* out_context) KM_NOEXCEPT;

/** Marks the end of the work queued in the stream so far, replacing the event's earlier mark. CUDA:
 * cuEventRecord.
 * Status: the sticky error.
 */
KM_API km_status km_event_record(km_event event, km_stream stream) KM_NOEXCEPT;

/** Asks whether the work that the event marks is done; an event that was never recorded counts as
 * done. CUDA: cuEventQuery.
 * Status: KM_NOT_READY when work is left; the sticky error.
 */
KM_API km_status km_event_query(km_event event) KM_NOEXCEPT;

/** Waits until the work that the event marks is done; if the event was never recorded, it returns
 * at once. CUDA: cuEventSynchronize.
 * Blocking: until that work is done.
 * Status: KM_ERROR_NOT_PERMITTED when called inside a callback of this library; the sticky error.
 */
KM_API km_status km_event_synchronize(km_event event) KM_RUNS_CALLBACKS;

/** km_event_synchronize with a time limit in nanoseconds; UINT64_MAX: no limit; 0: only asks.
 * Blocking: for at most `timeout_ns`.
 * Status: KM_TIMEOUT when the limit passed first; the work continues; KM_ERROR_NOT_PERMITTED when
 *   called inside a callback of this library and `timeout_ns` is not 0; the sticky error.
 */
KM_API km_status km_event_synchronize_timeout(km_event event,
                                              uint64_t timeout_ns) KM_RUNS_CALLBACKS;

/** Nanoseconds from the mark of `start` to that of `end`; negative when `end` came first. CUDA:
 * cuEventElapsedTime, which gives milliseconds.
 * Status: KM_NOT_READY when one of the marks has not been reached; KM_ERROR_INVALID_ARGUMENT when
 *   one of the events was never recorded or records no times; the sticky error.
 */
KM_API km_status km_event_elapsed_ns(km_event start, km_event end,
                                     int64_t* out_elapsed_ns) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
