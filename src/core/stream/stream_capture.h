// Calls on streams and events that take part in captures.
#pragma once

#include "core/stream/event.h"
#include "core/stream/stream.h"

namespace km {

Status capture_record(Event& event, Stream& stream);
/// Called when the event was recorded outside a capture.
void forget_capture(Event& event);
/// Captures a wait if the event or the stream, or both, belong to a capture.
Status capture_wait(Stream& stream, Event& event);
/// Invalidates the capture, for calls that it cannot hold. `what` begins the message: "waiting for"
/// ...
Error refuse_capture(Stream& stream, const char* what);
Error refuse_captured_event(Event& event, const char* what);
/// The error if another thread ended the stream's capture after it was checked.
Error capture_ended_meanwhile();

}  // namespace km
