#include "backends/cpu/stream/event.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/stream/stream.h"
#include "backends/cpu/threads/futex.h"

namespace km::cpu {
namespace {

/// Owns a reference to a marker.
class Held {
 public:
  explicit Held(Marker* marker) : marker_(marker) {}
  ~Held() {
    if (marker_ != nullptr) marker_->release();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  Marker* operator->() const { return marker_; }
  Marker* get() const { return marker_; }
  explicit operator bool() const { return marker_ != nullptr; }

 private:
  Marker* marker_;
};

/// Waits until the mark is reached; false after the timeout.
bool wait_for(const Marker& marker, uint64_t timeout_ns) {
  if (!marker.in_graph()) return marker.stream()->wait(marker.ticket(), timeout_ns);
  // The wait is cut into turns, because the rest of the graph may run for long or depend on the
  // caller's next action.
  constexpr uint64_t kTurnNs = 200000;
  const uint64_t begin_ns = now_ns();
  while (!marker.done()) {
    const uint64_t passed_ns = now_ns() - begin_ns;
    if (timeout_ns != kForever && passed_ns >= timeout_ns) return false;
    const uint64_t left_ns = timeout_ns == kForever ? kTurnNs : timeout_ns - passed_ns;
    if (marker.stream()->wait(marker.ticket(), std::min(kTurnNs, left_ns))) return true;
  }
  return true;
}

Error no_times(const char* which, const char* why) {
  return make_error(KM_ERROR_INVALID_ARGUMENT, "the %s event %s", which, why);
}

}  // namespace

Event::Event(Context* context, bool timing) : context_(context), timing_(timing) {
  context_->retain();
}

Event::~Event() {
  if (latest_ != nullptr) latest_->release();
  context_->release();
}

Marker* Event::latest() {
  std::lock_guard lock(lock_);
  if (latest_ != nullptr) latest_->retain();
  return latest_;
}

void Event::set_latest(Marker* marker) {
  Marker* old = nullptr;
  {
    std::lock_guard lock(lock_);
    old = std::exchange(latest_, marker);
  }
  if (old != nullptr) old->release();
}

StreamOrder::Clock Event::order() {
  if (StreamOrder::active() == nullptr) [[likely]]
    return nullptr;
  std::lock_guard lock(lock_);
  return order_;
}

void Event::set_order(StreamOrder::Clock clock) {
  std::lock_guard lock(lock_);
  std::swap(order_, clock);  // the old one is freed after the lock
}

void Event::record_at(Stream* stream, uint64_t ticket) {
  {
    std::lock_guard lock(lock_);
    if (latest_ != nullptr && latest_->is_unshared() && !latest_->in_graph()) {
      latest_->restart(stream, ticket);
      latest_->reach(timing_);
      return;
    }
  }
  Marker* marker = Marker::make(stream);
  marker->restart(stream, ticket);
  marker->reach(timing_);
  set_latest(marker);
}

namespace {

/// Returns false if a command is needed: the event takes a time, and the stream has unfinished
/// work.
bool record_without_command(Event* event, Stream* stream) {
  const uint64_t ticket = stream->submitted();
  if (event->has_timing() && !stream->is_complete(ticket)) return false;
  event->record_at(stream, ticket);
  return true;
}

}  // namespace

km_status event_create(kmb_context* context, km_event_flags flags, kmb_event** out_event,
                       kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_TRY(from(context)->check());
    *out_event = to(new Event(from(context), (flags & KM_EVENT_DISABLE_TIMING) == 0));
    return {};
  });
}

void event_destroy(kmb_event* event) { std::unique_ptr<Event> last(from(event)); }

km_status event_record(kmb_event* event, kmb_stream* handle, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream* stream = from(handle);
    KM_TRY(stream->context()->check());
    if (StreamOrder* const order = StreamOrder::active()) [[unlikely]]
      from(event)->set_order(order->clock_of(stream->order_number()));
    if (record_without_command(from(event), stream)) return {};
    Marker* marker = Marker::make(stream);
    Command* command = stream->allocate();
    if (command == nullptr) {
      marker->release();
      throw std::bad_alloc();
    }
    command->kind = CommandKind::record;
    command->marker = marker;
    marker->retain();
    stream->submit(command);
    from(event)->set_latest(marker);
    return {};
  });
}

km_status event_synchronize(kmb_event* handle, uint64_t timeout_ns, kmb_error* error) {
  return caught(error, [&]() -> km_status {
    Event* event = from(handle);
    Context* context = event->context();
    Held marker(event->latest());
    const StreamOrder::Clock known = event->order();
    bool done =
        !marker || marker->done() || context->failed() || wait_for(*marker.get(), timeout_ns);
    const bool failed = context->failed();
    if (!done && !failed) return timeout_ns == 0 ? KM_NOT_READY : KM_TIMEOUT;
    if (!failed) StreamOrder::note_wait(known);
    if (timeout_ns != 0) context->output().flush();
    return failed ? report(context->failure(), error) : KM_SUCCESS;
  });
}

km_status event_elapsed(kmb_event* start, kmb_event* end, int64_t* out_elapsed_ns,
                        kmb_error* error) {
  km_status result = KM_SUCCESS;
  km_status status = guarded(error, [&]() -> Status {
    if (!from(start)->has_timing()) return no_times("start", "was created without timing");
    if (!from(end)->has_timing()) return no_times("end", "was created without timing");
    Held first(from(start)->latest()), last(from(end)->latest());
    if (!first) return no_times("start", "has never been recorded");
    if (!last) return no_times("end", "has never been recorded");
    if (!first->done() || !last->done()) {
      result = KM_NOT_READY;
      return {};
    }
    for (Event* const event : {from(start), from(end)}) StreamOrder::note_wait(event->order());
    *out_elapsed_ns =
        static_cast<int64_t>(last->time_ns()) - static_cast<int64_t>(first->time_ns());
    return {};
  });
  return status != KM_SUCCESS ? status : result;
}

}  // namespace km::cpu
