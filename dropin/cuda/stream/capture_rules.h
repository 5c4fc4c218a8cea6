// Captures forbid calls that might wait for work that is only captured, or whose effects a graph
// would not repeat. The modes of the captures and of the calling thread decide which calls fail.
#pragma once

#include "dropin/cuda/stream/stream.h"

namespace km::dropin {

/// The calling thread's own capture mode.
CUstreamCaptureMode& thread_capture_mode();

/// Fails and invalidates the captures that forbid the call, if there are any. `what` is the call's
/// name for the message.
CUresult require_no_capture_of(const char* what);

void note_capture_begin(Stream& stream, CUstreamCaptureMode mode);
/// CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD if another thread must end the capture.
CUresult require_capturing_thread(const Stream& stream);
/// Removes the capture of a stream that ends it or is destroyed.
void note_capture_end(const Stream& stream);

}  // namespace km::dropin
