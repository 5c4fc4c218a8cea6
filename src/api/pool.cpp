#include "core/memory/pool.h"

#include "api/guard.h"
#include "api/output.h"
#include "core/memory/slice.h"
#include "core/object/callback.h"

using namespace km;

namespace {

// Without a stream, zeroing reused memory may wait, which callbacks must not do.
Status check_allocation(km_slice_flags flags, bool has_stream) {
  KM_TRY(check_flags(flags, KM_SLICE_ZEROED));
  if (!has_stream && flags != KM_SLICE_DEFAULT) KM_TRY(require_may_block());
  return {};
}

}  // namespace

km_status km_pool_create(km_context context, uint64_t limit_bytes, km_pool* out_pool) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_pool);
    KM_ASSIGN(Ref<Pool> created, Pool::create(*target, limit_bytes));
    return give_handle(std::move(created), out_pool);
  });
}

km_status km_pool_destroy(km_pool pool) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(pool, "pool"); });
}

km_status km_pool_allocate(km_pool pool, uint64_t element_count, uint64_t element_size_bytes,
                           km_slice_flags flags, km_slice* out_slice) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, pool);
    KM_REQUIRE(out_slice);
    KM_TRY(check_allocation(flags, false));
    KM_ASSIGN(Ref<Slice> created,
              Slice::from_pool(*target, nullptr, element_count, element_size_bytes, flags));
    return give_handle(std::move(created), out_slice);
  });
}

km_status km_pool_allocate_on_stream(km_pool pool, km_stream stream, uint64_t element_count,
                                     uint64_t element_size_bytes, km_slice_flags flags,
                                     km_slice* out_slice) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, pool);
    KM_GET(queue, call, stream);
    KM_REQUIRE(out_slice);
    KM_TRY(check_allocation(flags, true));
    KM_TRY(require_same_context(queue->context(), target->context(), "pool"));
    KM_ASSIGN(Ref<Slice> created,
              Slice::from_pool(*target, queue, element_count, element_size_bytes, flags));
    return give_handle(std::move(created), out_slice);
  });
}

km_status km_pool_set_release_threshold(km_pool pool, uint64_t threshold_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, pool);
    target->set_release_threshold(threshold_bytes);
    return {};
  });
}

km_status km_pool_trim(km_pool pool, uint64_t keep_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, pool);
    target->trim(keep_bytes);
    return {};
  });
}

km_status km_pool_info_get(km_pool pool, km_pool_info* out_info) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, pool);
    KM_REQUIRE(out_info);
    return give_struct(target->info(), out_info, "out_info");
  });
}

km_status km_pool_reset_high_water(km_pool pool) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, pool);
    target->reset_high_water();
    return {};
  });
}
