#include "core/stream.h"

#include "api/guard.h"
#include "api/output.h"
#include "core/callback.h"
#include "core/event.h"
#include "core/graph.h"

using namespace km;

km_status km_stream_create(km_context context, km_stream_flags flags, int32_t priority,
                           km_stream* out_stream) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_stream);
    KM_TRY(check_flags(flags, KM_STREAM_DEFAULT));
    KM_ASSIGN(Ref<Stream> created, Stream::create(*target, flags, priority));
    return give_handle(std::move(created), out_stream);
  });
}

km_status km_stream_destroy(km_stream stream) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(stream, "stream"); });
}

km_status km_stream_context(km_stream stream, km_context* out_context) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_REQUIRE(out_context);
    return give_handle(Ref<Context>::share(target->context()), out_context);
  });
}

km_status km_stream_priority(km_stream stream, int32_t* out_priority) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_REQUIRE(out_priority);
    *out_priority = target->priority();
    return {};
  });
}

km_status km_stream_synchronize(km_stream stream) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_TRY(require_may_block());
    return target->synchronize(KMB_WAIT_FOREVER);
  });
}

km_status km_stream_synchronize_timeout(km_stream stream, uint64_t timeout_ns) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    if (timeout_ns != 0) KM_TRY(require_may_block());
    return target->synchronize(timeout_ns);
  });
}

km_status km_stream_query(km_stream stream) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    return target->query();
  });
}

km_status km_stream_wait_event(km_stream stream, km_event event) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_GET(awaited, call, event);
    return target->wait_event(*awaited);
  });
}

km_status km_stream_add_callback(km_stream stream, km_host_callback callback,
                                 void* user_data) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_REQUIRE(callback);
    return target->add_callback(callback, user_data);
  });
}

km_status km_stream_begin_capture(km_stream stream) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    return begin_capture(*target);
  });
}

km_status km_stream_end_capture(km_stream stream, km_graph* out_graph) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_REQUIRE(out_graph);
    KM_ASSIGN(Ref<Graph> captured, end_capture(*target));
    return give_handle(std::move(captured), out_graph);
  });
}

km_status km_stream_capture_status(km_stream stream, km_capture_status* out_status) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_REQUIRE(out_status);
    *out_status = capture_status(*target);
    return {};
  });
}
