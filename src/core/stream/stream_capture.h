// Calls of streams and events that take part in captures.
#pragma once

#include "core/stream/event.h"
#include "core/stream/stream.h"

namespace km {

Status capture_record(Event& event, Stream& stream);
/// The event was recorded outside.
void forget_capture(Event& event);
/// The event or the stream, or both, belong to a capture.
Status capture_wait(Stream& stream, Event& event);
/// For calls that a capture cannot hold: invalidates it. `what` is "waiting for" ...
Error refuse_capture(Stream& stream, const char* what);
Error refuse_captured_event(Event& event, const char* what);
/// Another thread has ended the capture of the stream since it was looked at.
Error capture_ended_meanwhile();

}  // namespace km
