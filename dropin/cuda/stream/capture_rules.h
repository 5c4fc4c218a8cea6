// Captures forbid calls that may wait for work that does not run, or whose effects a graph
// would not repeat. Which captures count is a matter of their modes and of the calling thread's.
#pragma once

#include "dropin/cuda/stream/stream.h"

namespace km::dropin {

/// The calling thread's own mode.
CUstreamCaptureMode& thread_capture_mode();

/// Fails, and spoils the captures that forbid the call, where there are any. `what` is the call.
CUresult require_no_capture_of(const char* what);

void note_capture_begin(Stream& stream, CUstreamCaptureMode mode);
/// CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD for captures that another thread has to end.
CUresult require_capturing_thread(const Stream& stream);
/// Forgets the capture of a stream, which ends or is destroyed.
void note_capture_end(const Stream& stream);

}  // namespace km::dropin
