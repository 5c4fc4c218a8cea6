#include "core/stream/event.h"

#include "base/assert.h"
#include "core/object/backend_call.h"
#include "core/stream/stream.h"
#include "core/stream/stream_capture.h"

namespace km {

Result<Ref<Event>> Event::create(Context& context, km_event_flags flags) {
  Ref<Event> event = Ref<Event>::adopt(new Event(context, flags));
  KM_TRY(call_backend(context.backend().event_create, context.native(), flags, &event->native_));
  KM_ASSERT(event->native_ != nullptr, "a backend that succeeds has made an event");
  return event;
}

Event::~Event() {
  if (native_ != nullptr) backend().event_destroy(native_);
}

Status Event::record(Stream& stream) {
  KM_TRY(require_same_context(stream.context(), context(), "event"));
  if (stream.is_capturing()) [[unlikely]]
    return capture_record(*this, stream);
  KM_TRY(call_backend(backend().event_record, native_, stream.native()));
  was_recorded_.store(true, std::memory_order_relaxed);
  if (is_captured()) [[unlikely]]
    forget_capture(*this);
  return {};
}

void Event::note_recorded() {
  was_recorded_.store(true, std::memory_order_relaxed);
  if (is_captured()) [[unlikely]]
    forget_capture(*this);
}

Status Event::synchronize(const MayBlock&, uint64_t timeout_ns) { return wait(timeout_ns); }
Status Event::poll() { return wait(0); }

Status Event::wait(uint64_t timeout_ns) {
  if (is_captured()) [[unlikely]]
    return refuse_captured_event(*this, "waiting for");
  const ProfiledWait wait(context().profiler(), "synchronize event");
  return wait_for_work(timeout_ns);
}

Status Event::wait_for_work(uint64_t timeout_ns) {
  Status status = call_backend(backend().event_synchronize, native_, timeout_ns);
  if (!status && status.error().status == KM_NOT_READY) status.error().status = KM_TIMEOUT;
  return status;
}

Status Event::query() {
  if (is_captured()) [[unlikely]]
    return refuse_captured_event(*this, "asking for the state of");
  return ask_for_work();
}

Status Event::ask_for_work() {
  Status status = call_backend(backend().event_synchronize, native_, uint64_t{0});
  if (!status && status.error().status == KM_TIMEOUT) status.error().status = KM_NOT_READY;
  return status;
}

Result<int64_t> Event::elapsed_ns(Event& end) {
  if (&context() != &end.context()) {
    return make_error(KM_ERROR_CONTEXT_MISMATCH, "start and end belong to different contexts");
  }
  if (((flags_ | end.flags_) & KM_EVENT_DISABLE_TIMING) != 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "%s was created with KM_EVENT_DISABLE_TIMING and records no times",
                      (flags_ & KM_EVENT_DISABLE_TIMING) != 0 ? "start" : "end");
  }
  if (is_captured()) return refuse_captured_event(*this, "taking the time of");
  if (end.is_captured()) return refuse_captured_event(end, "taking the time of");
  int64_t elapsed = 0;
  KM_TRY(call_backend(backend().event_elapsed, native_, end.native_, &elapsed));
  return elapsed;
}

}  // namespace km
