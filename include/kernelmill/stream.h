/* Streams: ordered queues of work that run concurrently; waits, callbacks, and captures.
 *
 * Example:
 *   km_stream second;
 *   km_event event;
 *   KM_CHECK(km_stream_create(context, KM_STREAM_DEFAULT, 0, &second));
 *   KM_CHECK(km_event_create(context, KM_EVENT_DISABLE_TIMING, &event));
 *   KM_CHECK(km_event_record(event, stream));
 *   KM_CHECK(km_stream_wait_event(second, event));
 *   KM_CHECK(km_stream_synchronize(second));
 *   KM_CHECK(km_event_destroy(event));
 *   KM_CHECK(km_stream_destroy(second));
 */
#ifndef KERNELMILL_STREAM_H
#define KERNELMILL_STREAM_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t km_capture_status;
enum {
  KM_CAPTURE_STATUS_INVALID = 0,
  KM_CAPTURE_STATUS_NONE = 1,
  KM_CAPTURE_STATUS_ACTIVE = 2,
  KM_CAPTURE_STATUS_INVALIDATED = 3 /* km_stream_end_capture ends it, without a graph */
};

typedef uint32_t km_stream_flags;
enum { KM_STREAM_DEFAULT = 0 };

/* The condition on a number in memory that a stream waits for. */
typedef int32_t km_wait_condition;
enum {
  KM_WAIT_CONDITION_INVALID = 0,
  KM_WAIT_CONDITION_GREATER_EQUAL = 1, /* cyclic: the difference as a signed number is >= 0 */
  KM_WAIT_CONDITION_EQUAL = 2,
  KM_WAIT_CONDITION_AND = 3, /* a bit is 1 in both */
  KM_WAIT_CONDITION_NOR = 4  /* a bit is 0 in both */
};

/** A new stream: an ordered queue of work that runs concurrently with other streams. `priority` is
 * 0 or lies between KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST and _LEAST; lower numbers go
 * first. The priority decides which work starts next and interrupts nothing. The handle is the
 * caller's, to be given to km_stream_destroy. CUDA: cuStreamCreateWithPriority.
 * Status: KM_ERROR_INVALID_ARGUMENT when `flags` has unknown bits, or `priority` lies outside the
 *   device's range; the sticky error.
 */
KM_API km_status km_stream_create(km_context context, km_stream_flags flags, int32_t priority,
                                  km_stream* out_stream) KM_NOEXCEPT;

/** Drops the caller's handle. Queued work still runs. Null is fine. */
KM_API km_status km_stream_destroy(km_stream stream) KM_NOEXCEPT;

/** The context of a stream, as a new handle that is the caller's to destroy. */
KM_API km_status km_stream_context(km_stream stream, km_context* out_context) KM_NOEXCEPT;

/** The priority that the stream was created with. */
KM_API km_status km_stream_priority(km_stream stream, int32_t* out_priority) KM_NOEXCEPT;

/** Waits until the work queued in the stream so far is done, and writes the output of its kernels.
 * CUDA: cuStreamSynchronize.
 * Blocking: until the stream's work is done.
 * Status: KM_ERROR_NOT_PERMITTED when called inside a callback of this library; the sticky error.
 */
KM_API km_status km_stream_synchronize(km_stream stream) KM_RUNS_CALLBACKS;

/** km_stream_synchronize with a time limit in nanoseconds; UINT64_MAX: no limit; 0: only asks.
 * Blocking: for at most `timeout_ns`.
 * Status: KM_TIMEOUT when the limit passed first; the work continues; KM_ERROR_NOT_PERMITTED when
 *   called inside a callback of this library and `timeout_ns` is not 0; the sticky error.
 */
KM_API km_status km_stream_synchronize_timeout(km_stream stream,
                                               uint64_t timeout_ns) KM_RUNS_CALLBACKS;

/** Asks whether the work queued in the stream so far is done. CUDA: cuStreamQuery.
 * Status: KM_NOT_READY when work is left; the sticky error.
 */
KM_API km_status km_stream_query(km_stream stream) KM_NOEXCEPT;

/** Makes later work of the stream wait for the work that the event marks; an event that was never
 * recorded causes no wait. The event may belong to another context or device of the same backend;
 * if its work fails, the wait ends as well. CUDA: cuStreamWaitEvent.
 * Status: KM_ERROR_CONTEXT_MISMATCH when the objects belong to devices of different backends; the
 *   sticky error of the stream's context when a kernel failed.
 */
KM_API km_status km_stream_wait_event(km_stream stream, km_event event) KM_NOEXCEPT;

/** Writes a number of 4 or 8 bytes to a slice once all work queued before is done, as a release: a
 * reader that sees the number also sees the writes of that work. When captured, it becomes a node
 * of the graph. CUDA: cuStreamWriteValue32, cuStreamWriteValue64.
 * Status: KM_ERROR_INVALID_ARGUMENT when `value_size_bytes` is neither 4 nor 8, `value` needs more,
 *   or the address is not a multiple of it; KM_ERROR_OUT_OF_BOUNDS when the number reaches beyond
 *   the slice; KM_ERROR_NOT_PERMITTED when the slice is a file mapped read-only;
 *   KM_ERROR_NOT_SUPPORTED when the device cannot do it; the sticky error.
 */
KM_API km_status km_stream_write_value(km_stream stream, km_slice slice, uint64_t offset_bytes,
                                       uint64_t value, uint32_t value_size_bytes) KM_NOEXCEPT;

/** Makes later work of the stream wait until a number of 4 or 8 bytes in a slice, written by the
 * host, another stream or a kernel, meets the condition with `value`. Other streams keep running.
 * If nobody writes such a number, the stream and km_stream_synchronize wait forever. When captured,
 * it becomes a node of the graph. CUDA: cuStreamWaitValue32, cuStreamWaitValue64.
 * Status: KM_ERROR_INVALID_ARGUMENT when `condition` is not a km_wait_condition, `value_size_bytes`
 *   is neither 4 nor 8, `value` needs more, or the address is not a multiple of it;
 *   KM_ERROR_OUT_OF_BOUNDS when the number reaches beyond the slice; KM_ERROR_NOT_SUPPORTED when
 *   the device cannot do it; the sticky error.
 */
KM_API km_status km_stream_wait_value(km_stream stream, km_slice slice, uint64_t offset_bytes,
                                      km_wait_condition condition, uint64_t value,
                                      uint32_t value_size_bytes) KM_NOEXCEPT;

/** Calls `callback`, on a thread of the library, once all work queued in the stream so far is done,
 * with KM_SUCCESS or the error of the context. It is called exactly once if this call succeeds
 * (also after errors and resets), otherwise never. Work queued later waits for it. Inside it, calls
 * that may wait give KM_ERROR_NOT_PERMITTED. `user_data` must stay valid until then. CUDA:
 * cuLaunchHostFunc.
 * Status: KM_ERROR_INVALID_ARGUMENT when `callback` is null; the sticky error.
 */
KM_API km_status km_stream_add_callback(km_stream stream, km_host_callback callback,
                                        void* user_data) KM_NOEXCEPT;

/** Begins to capture a stream: until km_stream_end_capture, work queued in it becomes nodes of a
 * graph and does not run. Another stream that waits for an event recorded in a capturing stream
 * joins the capture, and the first stream has to wait for it before the end. Waiting for the stream
 * or for the context, asking whether they are done, stream-ordered allocation, events recorded
 * outside, and events of another capture cannot be captured: they return
 * KM_ERROR_CAPTURE_UNSUPPORTED and invalidate the capture. So do a query of an event that was
 * recorded in a capture and a host's wait for it. A call that fails because of its arguments adds
 * nothing and leaves the capture valid. Copies read and write host memory whenever the graph runs,
 * whether the memory is page-locked or not. A capture belongs to the stream and not to a thread.
 * docs/guide/graphs.md has the table of CUDA's results, which km_last_error_native_code gives.
 * CUDA: cuStreamBeginCapture.
 * Status: KM_ERROR_NOT_PERMITTED when the stream is being captured already; the sticky error.
 */
KM_API km_status km_stream_begin_capture(km_stream stream) KM_NOEXCEPT;

/** Ends the capture of a stream and of all streams that joined it, and returns the graph, which is
 * the caller's to destroy. CUDA: cuStreamEndCapture.
 * Status: KM_ERROR_NOT_PERMITTED when the stream is not being captured, or when it only joined the
 *   capture of another, and that capture continues; KM_ERROR_CAPTURE_INVALIDATED when an earlier
 *   call has invalidated the capture, which is then over; KM_ERROR_CAPTURE_UNJOINED when the stream
 *   does not wait for the work of another stream that joined; the capture is over, and there is no
 *   graph.
 */
KM_API km_status km_stream_end_capture(km_stream stream, km_graph* out_graph) KM_NOEXCEPT;

/** Tells whether the stream is being captured. CUDA: cuStreamGetCaptureInfo. */
KM_API km_status km_stream_capture_status(km_stream stream,
                                          km_capture_status* out_status) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
