#include "core/profiler/profiler.h"

#include <algorithm>
#include <cstring>

#include "api/guard.h"
#include "api/output.h"
#include "base/check/source_position.h"
#include "base/fixed_text.h"
#include "base/text.h"
#include "core/module/module.h"
#include "core/profiler/profile_counters.h"

using namespace km;

namespace {

uint64_t per_second(uint64_t amount, uint64_t ns) {
  return ns == 0
             ? 0
             : static_cast<uint64_t>(static_cast<double>(amount) * 1e9 / static_cast<double>(ns));
}

km_profile_row row_of(const Profiler::Row& row) {
  km_profile_row result{};
  result.struct_size = sizeof result;
  result.kind = row.kind;
  std::memcpy(result.name, row.name.data(), std::min(row.name.size(), sizeof result.name - 1));
  result.count = row.count;
  result.total_ns = row.total_ns;
  result.min_ns = row.min_ns;
  result.max_ns = row.max_ns;
  result.size_bytes = row.size_bytes;
  result.operations = row.operations;
  result.bytes_per_second = per_second(row.size_bytes, row.total_ns);
  result.operations_per_second = per_second(row.operations, row.total_ns);
  result.occupancy_percent =
      static_cast<uint32_t>(100 * row.occupancy_sum / static_cast<double>(row.count) + 0.5);
  return result;
}

km_profile_counter counter_of(const Profiler::Counter& counter, bool is_total) {
  const SourcePosition at = SourcePosition::of(counter.position);
  km_profile_counter result{};
  result.struct_size = sizeof result;
  result.kind = counter.kind;
  result.requests = counter.counts.requests;
  result.threads = counter.counts.threads;
  result.taken = counter.counts.taken;
  result.ideal = counter.counts.ideal;
  result.line = at.line;
  result.is_total = is_total ? 1 : 0;
  copy_text(result.source, at.file);
  return result;
}

/// One of the profile's rows; `name` is the argument that says which.
Result<Profiler::Row> row_at(const Profiler& profiler, uint32_t index, const char* name) {
  std::vector<Profiler::Row> rows = profiler.rows();
  if (index < rows.size()) return std::move(rows[index]);
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s is %u, beyond the end of %s", name, index,
                    counted(rows.size(), "row").c_str());
}

}  // namespace

km_status km_profiler_start(km_context context) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    return target->start_profiler();
  });
}

km_status km_profiler_stop(km_context context) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    return target->stop_profiler();
  });
}

km_status km_profiler_clear(km_context context) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    target->profiler().clear();
    return {};
  });
}

km_status km_profiler_range_push(km_context context, const char* name) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(name);
    target->profiler().push_range(name);
    return {};
  });
}

km_status km_profiler_range_pop(km_context context) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    if (target->profiler().pop_range()) return {};
    return make_error(KM_ERROR_NOT_FOUND,
                      "this thread has no open range of the context: each km_profiler_range_pop "
                      "ends one that km_profiler_range_push opened in the same thread");
  });
}

km_status km_profiler_range_start(km_context context, const char* name,
                                  uint64_t* out_range) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(name);
    KM_REQUIRE(out_range);
    *out_range = target->profiler().start_range(name);
    return {};
  });
}

km_status km_profiler_range_end(km_context context, uint64_t range) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    if (target->profiler().end_range(range)) return {};
    return make_error(KM_ERROR_NOT_FOUND,
                      "range %llu is not open: it has ended already, or km_profiler_range_start "
                      "of this context did not give it",
                      static_cast<unsigned long long>(range));
  });
}

km_status km_profiler_set_work(km_function function, uint64_t operations,
                               uint64_t size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    target->context().profiler().set_work(target->info().name, operations, size_bytes);
    return {};
  });
}

km_status km_profiler_set_counters(km_context context, uint32_t enabled) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    if (enabled > 1) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "enabled is %u: give 1 to count, or 0", enabled);
    }
    return target->set_counters(enabled != 0);
  });
}

km_status km_profiler_row_count(km_context context, uint32_t* out_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_count);
    *out_count = static_cast<uint32_t>(target->profiler().rows().size());
    return {};
  });
}

km_status km_profiler_row_get(km_context context, uint32_t index,
                              km_profile_row* out_row) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_row);
    KM_ASSIGN(const Profiler::Row row, row_at(target->profiler(), index, "index"));
    return give_struct(row_of(row), out_row, "out_row");
  });
}

km_status km_profiler_counter_count(km_context context, uint32_t row,
                                    uint32_t* out_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_count);
    KM_ASSIGN(const Profiler::Row found, row_at(target->profiler(), row, "row"));
    *out_count = static_cast<uint32_t>(totals_of(found).size() + found.counters.size());
    return {};
  });
}

km_status km_profiler_counter_get(km_context context, uint32_t row, uint32_t index,
                                  km_profile_counter* out_counter) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_counter);
    KM_ASSIGN(const Profiler::Row found, row_at(target->profiler(), row, "row"));
    std::vector<Profiler::Counter> counters = totals_of(found);
    const bool is_total = index < counters.size();
    counters.insert(counters.end(), found.counters.begin(), found.counters.end());
    if (index < counters.size()) {
      return give_struct(counter_of(counters[index], is_total), out_counter, "out_counter");
    }
    return make_error(KM_ERROR_INVALID_ARGUMENT, "index is %u, beyond the end of %s", index,
                      counted(counters.size(), "counter").c_str());
  });
}

km_status km_profiler_summary(km_context context, char* buffer, uint64_t capacity_bytes,
                              uint64_t* out_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    return give_text(profile_summary(target->profiler()), buffer, capacity_bytes, out_size_bytes);
  });
}

km_status km_profiler_write(km_context context, const char* path) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(path);
    if (*path == '\0') return make_error(KM_ERROR_INVALID_ARGUMENT, "path is empty");
    return write_profile(path, {target->profiler().snapshot()});
  });
}
