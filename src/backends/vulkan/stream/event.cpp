#include "backends/vulkan/stream/event.h"

#include "backends/vulkan/stream/context.h"
#include "backends/vulkan/stream/scheduler.h"
#include "base/thread/futex.h"

namespace km::vulkan {
namespace {

Error no_time(const char* which, const char* why) {
  return make_error(KM_ERROR_INVALID_ARGUMENT, "the %s event %s", which, why);
}

}  // namespace

bool Mark::is_over() const {
  return is_reached || stream->epoch().has_failed() ||
         Scheduler::has_passed_locked(*stream, ticket);
}

std::shared_ptr<Mark> Event::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void Event::set_latest(std::shared_ptr<Mark> mark) {
  const std::lock_guard lock(mutex_);
  latest_.swap(mark);
}

/// The time is the device's. All events of a device take the same kind of time.
Step Event::record_time(const std::shared_ptr<Mark>& mark) const {
  Step step;
  const auto query = std::make_shared<std::optional<uint32_t>>();
  Epoch* const epoch = &mark->stream->epoch();
  step.may_start = [epoch, query] {
    if (!*query) *query = epoch->take_query();
    return query->has_value();
  };
  step.polls = true;  // queries come back before their step is over
  step.record = [query](Commands& commands) -> Status {
    commands.write_time(**query);
    return {};
  };
  const auto time = std::make_shared<int64_t>(0);
  step.finish = [epoch, query, time]() -> Status {
    KM_ASSIGN(*time, epoch->time_ns(**query));
    return {};
  };
  step.complete = [epoch, mark, query, time] {
    if (*query) epoch->give_query_back(**query);
    mark->time_ns = *time;
    mark->is_reached = true;
  };
  return step;
}

Step Event::record(Stream& stream) {
  const auto mark = std::make_shared<Mark>();
  mark->stream = stream.shared_from_this();
  mark->ticket = UINT64_MAX;  // the step notes the arrival
  set_latest(mark);
  if (has_timing_ && stream.epoch().queries() != VK_NULL_HANDLE) return record_time(mark);
  Step step;
  step.complete = [mark] {
    mark->time_ns = static_cast<int64_t>(now_ns());
    mark->is_reached = true;
  };
  return step;
}

Step wait_for_mark(std::shared_ptr<const Mark> mark) {
  Step step;
  if (mark) step.may_start = [mark = std::move(mark)] { return mark->is_over(); };
  return step;
}

km_status event_create(kmb_context* context, km_event_flags flags, kmb_event** out_event,
                       kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(std::shared_ptr<const Workspace> workspace, from(context)->live_workspace());
    const bool has_timing = (flags & KM_EVENT_DISABLE_TIMING) == 0;
    *out_event = to(std::make_unique<Event>(std::move(workspace), has_timing).release());
    return {};
  });
}

void event_destroy(kmb_event* event) { const std::unique_ptr<Event> last(from(event)); }

km_status event_record(kmb_event* handle, kmb_stream* stream, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream& target = *from(stream);
    KM_TRY(target.epoch().require_alive());
    KM_TRY(target.add(from(handle)->record(target)));
    return {};
  });
}

km_status event_synchronize(kmb_event* handle, uint64_t timeout_ns, kmb_error* error) {
  return caught(error, [&]() -> km_status {
    const Event& event = *from(handle);
    const std::shared_ptr<const Mark> mark = event.latest();
    const bool is_over =
        !mark || Scheduler::instance().wait(timeout_ns, [&] { return mark->is_over(); });
    const Epoch& epoch = mark ? mark->stream->epoch() : *event.workspace().epoch;
    if (is_over && timeout_ns != 0) event.workspace().output->flush();
    if (epoch.has_failed()) return report(epoch.failure(), error);
    if (is_over) return KM_SUCCESS;
    return timeout_ns == 0 ? KM_NOT_READY : KM_TIMEOUT;
  });
}

km_status event_elapsed(kmb_event* start, kmb_event* end, int64_t* out_elapsed_ns,
                        kmb_error* error) {
  return caught(error, [&]() -> km_status {
    int64_t times[2] = {};
    const Event* const events[] = {from(start), from(end)};
    constexpr const char* kNames[] = {"start", "end"};
    for (int i = 0; i < 2; ++i) {
      const std::shared_ptr<const Mark> mark = events[i]->latest();
      if (!events[i]->has_timing()) {
        return report(no_time(kNames[i], "was created without timing"), error);
      }
      if (!mark) return report(no_time(kNames[i], "has never been recorded"), error);
      const Epoch& epoch = mark->stream->epoch();
      if (epoch.has_failed()) return report(epoch.failure(), error);
      const std::optional<int64_t> time =
          Scheduler::instance().locked([&] { return mark->time_ns; });
      if (!time) return KM_NOT_READY;
      times[i] = *time;
    }
    *out_elapsed_ns = times[1] - times[0];
    return KM_SUCCESS;
  });
}

}  // namespace km::vulkan
