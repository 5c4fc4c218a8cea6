#include "core/context/tracker.h"

#include <algorithm>

#include "api/guard.h"
#include "api/output.h"
#include "core/memory/slice.h"

using namespace km;

km_status km_context_set_tracking(km_context context, km_tracking_flags flags) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_TRY(check_flags(flags, KM_TRACKING_ON | KM_TRACKING_STACKS));
    target->tracker().set_flags(flags);
    return {};
  });
}

km_status km_slice_set_tag(km_slice slice, const char* tag) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, slice);
    KM_REQUIRE(tag);
    return target->context().tracker().set_tag(target->memory().tracking_id(), tag);
  });
}

km_status km_context_allocations(km_context context, uint64_t capacity,
                                 km_allocation_info* out_allocations,
                                 uint64_t* out_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_TRY(require_room(out_allocations, capacity, "out_allocations"));
    KM_REQUIRE(out_count);
    const std::vector<TrackedAllocation> all = target->tracker().all();
    KM_TRY(give_structs(all, capacity, out_allocations, "out_allocations",
                        [](const TrackedAllocation& one) { return one.info(); }));
    *out_count = all.size();
    return {};
  });
}

km_status km_context_allocation_stack(km_context context, uint64_t allocation_id, char* buffer,
                                      uint64_t capacity_bytes, uint64_t* out_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_ASSIGN(const TrackedAllocation found, target->tracker().find(allocation_id));
    return give_text(found.stack.lines(), buffer, capacity_bytes, out_size_bytes);
  });
}

km_status km_context_start_memory_profile(km_context context, uint64_t interval_ns) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    return target->memory_profile().start(interval_ns);
  });
}

km_status km_context_stop_memory_profile(km_context context) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    target->memory_profile().stop();
    return {};
  });
}

km_status km_context_memory_profile(km_context context, km_memory_profile* out_profile) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_profile);
    return give_struct(target->memory_profile().report(), out_profile, "out_profile");
  });
}

km_status km_context_memory_samples(km_context context, uint64_t capacity,
                                    km_memory_sample* out_samples, uint64_t* out_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_TRY(require_room(out_samples, capacity, "out_samples"));
    KM_REQUIRE(out_count);
    const std::vector<km_memory_sample> all = target->memory_profile().samples();
    std::copy_n(all.begin(), std::min<uint64_t>(capacity, all.size()), out_samples);
    *out_count = all.size();
    return {};
  });
}
