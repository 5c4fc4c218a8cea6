#include "core/stream/stream_capture.h"

#include "core/capture/capture_error.h"

namespace km {

using namespace capturing;

Error capture_ended_meanwhile() {
  return capture_error(kIllegalState, KM_ERROR_NOT_PERMITTED, "%s",
                       "another thread has ended the capture of the stream meanwhile; begin again");
}

Status capture_record(Event& event, Stream& stream) {
  CaptureCalls calls(stream.context().captures());
  CaptureSlot& slot = stream.capture_slot();
  if (CaptureCalls::is_capturing(slot)) return calls.record(slot, event.captured());
  return capture_ended_meanwhile();
}

Status capture_wait(Stream& stream, Event& event) {
  CaptureSlot& slot = stream.capture_slot();
  if (&stream.context() != &event.context()) {
    if (stream.is_capturing()) return refuse_capture(stream, "waiting for another context in");
    return refuse_captured_event(event, "waiting in another context for");
  }
  CaptureCalls calls(stream.context().captures());
  if (event.captured().is_set.load(std::memory_order_relaxed)) {
    return calls.wait(slot, event.captured());
  }
  if (!CaptureCalls::is_capturing(slot)) return {};  // both captures were ended meanwhile
  return CaptureCalls::wait_outside(slot, event.was_recorded());
}

void forget_capture(Event& event) {
  CaptureCalls(event.context().captures()).forget(event.captured());
}

Error refuse_capture(Stream& stream, const char* what) {
  const CaptureCalls calls(stream.context().captures());
  CaptureSlot& slot = stream.capture_slot();
  if (CaptureCalls::is_capturing(slot)) return CaptureCalls::refuse(slot, what);
  return invalidated();
}

Error refuse_captured_event(Event& event, const char* what) {
  const CaptureCalls calls(event.context().captures());
  return CaptureCalls::refuse(event.captured(), what);
}

}  // namespace km
