#include "core/stream/event.h"

#include "api/guard.h"
#include "api/output.h"
#include "core/object/callback.h"
#include "core/stream/stream.h"

using namespace km;

km_status km_event_create(km_context context, km_event_flags flags, km_event* out_event) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_event);
    KM_TRY(check_flags(flags, KM_EVENT_DISABLE_TIMING));
    KM_ASSIGN(Ref<Event> created, Event::create(*target, flags));
    return give_handle(std::move(created), out_event);
  });
}

km_status km_event_destroy(km_event event) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(event, "event"); });
}

km_status km_event_context(km_event event, km_context* out_context) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, event);
    KM_REQUIRE(out_context);
    return give_handle(Ref<Context>::share(target->context()), out_context);
  });
}

km_status km_event_record(km_event event, km_stream stream) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, event);
    KM_GET(queue, call, stream);
    return target->record(*queue);
  });
}

km_status km_event_query(km_event event) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, event);
    return target->query();
  });
}

km_status km_event_synchronize(km_event event) {
  return then_end_thread(guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, event);
    KM_ASSIGN(const MayBlock may_block, require_may_block());
    return target->synchronize(may_block, KMB_WAIT_FOREVER);
  }));
}

km_status km_event_synchronize_timeout(km_event event, uint64_t timeout_ns) {
  return then_end_thread(guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, event);
    if (timeout_ns == 0) return target->poll();
    KM_ASSIGN(const MayBlock may_block, require_may_block());
    return target->synchronize(may_block, timeout_ns);
  }));
}

km_status km_event_elapsed_ns(km_event start, km_event end, int64_t* out_elapsed_ns) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(first, call, start);
    KM_GET(last, call, end);
    KM_REQUIRE(out_elapsed_ns);
    KM_ASSIGN(*out_elapsed_ns, first->elapsed_ns(*last));
    return {};
  });
}
