#include "core/stream/stream.h"

#include "api/guard.h"
#include "api/output.h"
#include "core/graph/graph_capture.h"
#include "core/memory/slice.h"
#include "core/object/callback.h"
#include "core/queue/callback.h"
#include "core/queue/memory_ops.h"
#include "core/stream/event.h"

using namespace km;

namespace {

Status submit_value(Stream& stream, Slice& slice, uint64_t offset_bytes, kmb_memory_op_kind kind,
                    uint64_t value, uint32_t value_size_bytes) {
  KM_TRY(check_value(value, value_size_bytes));
  KM_ASSIGN(const DevicePlace place,
            place_in_slice(stream.context(), slice, offset_bytes, value_size_bytes, "slice"));
  return submit_memory_op(stream, {place, kind, value_size_bytes, value});
}

}  // namespace

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
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_REQUIRE(out_context);
    return give_handle(Ref<Context>::share(target->context()), out_context);
  });
}

km_status km_stream_priority(km_stream stream, int32_t* out_priority) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_REQUIRE(out_priority);
    *out_priority = target->priority();
    return {};
  });
}

km_status km_stream_synchronize(km_stream stream) {
  return then_end_thread(guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_ASSIGN(const MayBlock may_block, require_may_block());
    return target->synchronize(may_block, KMB_WAIT_FOREVER);
  }));
}

km_status km_stream_synchronize_timeout(km_stream stream, uint64_t timeout_ns) {
  return then_end_thread(guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    if (timeout_ns == 0) return target->poll();
    KM_ASSIGN(const MayBlock may_block, require_may_block());
    return target->synchronize(may_block, timeout_ns);
  }));
}

km_status km_stream_query(km_stream stream) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    return target->query();
  });
}

km_status km_stream_wait_event(km_stream stream, km_event event) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_GET(awaited, call, event);
    return target->wait_event(*awaited);
  });
}

km_status km_stream_write_value(km_stream stream, km_slice slice, uint64_t offset_bytes,
                                uint64_t value, uint32_t value_size_bytes) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_GET(place, call, slice);
    return submit_value(*target, *place, offset_bytes, KMB_MEMORY_WRITE, value, value_size_bytes);
  });
}

km_status km_stream_wait_value(km_stream stream, km_slice slice, uint64_t offset_bytes,
                               km_wait_condition condition, uint64_t value,
                               uint32_t value_size_bytes) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_GET(place, call, slice);
    if (condition < KM_WAIT_CONDITION_GREATER_EQUAL || condition > KM_WAIT_CONDITION_NOR) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "condition is %d, which is not a condition",
                        condition);
    }
    const auto kind = static_cast<kmb_memory_op_kind>(
        // Both enumerations have the same order.
        KMB_MEMORY_WAIT_GEQ + condition - KM_WAIT_CONDITION_GREATER_EQUAL);
    return submit_value(*target, *place, offset_bytes, kind, value, value_size_bytes);
  });
}

km_status km_stream_add_callback(km_stream stream, km_host_callback callback,
                                 void* user_data) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_REQUIRE(callback);
    return km::add_callback(*target, callback, user_data);
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
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_REQUIRE(out_status);
    *out_status = capture_status(*target);
    return {};
  });
}
