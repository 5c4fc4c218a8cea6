#include "core/context/context.h"

#include "api/guard.h"
#include "api/output.h"
#include "core/memory/slice.h"
#include "core/object/callback.h"
#include "core/stream/stream.h"

using namespace km;

namespace {

Status check_limit(km_context_limit limit) {
  if (limit > KM_CONTEXT_LIMIT_INVALID && limit <= KM_CONTEXT_LIMIT_PERSISTING_L2_BYTES) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%d is not a limit of contexts", limit);
}

}  // namespace

km_status km_context_create(km_device device, km_context* out_context) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, device);
    KM_REQUIRE(out_context);
    KM_ASSIGN(Ref<Context> created, Context::create(Ref<Device>::share(*target)));
    return give_handle(std::move(created), out_context);
  });
}

km_status km_context_create_with_flags(km_device device, km_context_flags flags,
                                       km_context* out_context) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, device);
    KM_REQUIRE(out_context);
    KM_TRY(check_flags(flags, KM_CONTEXT_ORDERED | KM_CONTEXT_CHECKED));
    KM_ASSIGN(Ref<Context> created, Context::create(Ref<Device>::share(*target), flags));
    return give_handle(std::move(created), out_context);
  });
}

km_status km_context_flags_get(km_context context, km_context_flags* out_flags) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_flags);
    *out_flags = target->flags();
    return {};
  });
}

km_status km_context_destroy(km_context context) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(context, "context"); });
}

km_status km_context_device(km_context context, km_device* out_device) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_device);
    return give_handle(Ref<Device>::share(target->device()), out_device);
  });
}

km_status km_context_default_stream(km_context context, km_stream* out_stream) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_stream);
    KM_ASSIGN(Ref<Stream> stream, Stream::share_default(*target));
    return give_handle(std::move(stream), out_stream);
  });
}

km_status km_context_synchronize(km_context context) {
  return then_end_thread(guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_ASSIGN(const MayBlock may_block, require_may_block());
    return target->synchronize(may_block);
  }));
}

km_status km_context_memory_info(km_context context, uint64_t* out_free_bytes,
                                 uint64_t* out_total_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_free_bytes);
    KM_REQUIRE(out_total_bytes);
    KM_ASSIGN(const Context::MemoryInfo info, target->memory_info());
    *out_free_bytes = info.free_bytes;
    *out_total_bytes = info.total_bytes;
    return {};
  });
}

km_status km_context_reset(km_context context) {
  return then_end_thread(guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_ASSIGN(const MayBlock may_block, require_may_block());
    return target->reset(may_block);
  }));
}

km_status km_context_limit_get(km_context context, km_context_limit limit,
                               uint64_t* out_value) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_value);
    KM_TRY(check_limit(limit));
    KM_ASSIGN(*out_value, target->limit(limit));
    return {};
  });
}

km_status km_context_limit_set(km_context context, km_context_limit limit,
                               uint64_t value) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_TRY(check_limit(limit));
    return target->set_limit(limit, value);
  });
}

km_status km_context_error(km_context context, km_status* out_status) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_status);
    *out_status = target->error().status;
    return {};
  });
}

km_status km_context_error_message(km_context context, char* buffer, uint64_t capacity_bytes,
                                   uint64_t* out_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    return give_text(target->error().message, buffer, capacity_bytes, out_size_bytes);
  });
}

km_status km_context_take_error(km_context context, km_status* out_status) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_status);
    *out_status = target->take_error().status;
    return {};
  });
}

km_status km_context_find_slice(km_context context, uint64_t address, km_slice* out_slice,
                                uint64_t* out_offset_bytes) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_slice);
    KM_REQUIRE(out_offset_bytes);
    KM_ASSIGN(FoundSlice found, find_slice(*target, address));
    KM_TRY(give_handle(std::move(found.slice), out_slice));
    *out_offset_bytes = found.offset_bytes;
    return {};
  });
}

km_status km_context_set_output(km_context context, km_output_callback callback,
                                void* user_data) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    return target->set_output(callback, user_data);
  });
}

km_status km_context_set_check(km_context context, km_check_flags flags, uint64_t limit,
                               km_finding_callback callback, void* user_data) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_ASSIGN(const MayBlock may_block, require_may_block());
    return target->set_check(flags, limit, callback, user_data, may_block);
  });
}

km_status km_context_enable_peer_access(km_context context, km_context peer) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_GET(other, call, peer);
    return target->set_peer_access(*other, true);
  });
}

km_status km_context_disable_peer_access(km_context context, km_context peer) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_GET(other, call, peer);
    return target->set_peer_access(*other, false);
  });
}
