// The counters of profiles: what kernels' warps did, in tables.
#pragma once

#include <string>
#include <vector>

#include "core/profiler/profiler.h"

namespace km {

/// The name of what is counted, such as "global load".
const char* counter_name(km_counter_kind kind);
/// The name of what a request takes: "sectors", "wavefronts" or "divergent"; null for instructions,
/// which take nothing.
const char* counter_unit(km_counter_kind kind);
/// The sums of a kernel over all places, one for each kind that occurs.
std::vector<Profiler::Counter> totals_of(const Profiler::Row& row);
/// The places of a kernel with the most excess, first of global, then of shared memory, then of
/// branches; at most `most` of each.
std::vector<Profiler::Counter> worst_of(const Profiler::Row& row, size_t most);

/// A counter as words of a table.
struct CounterText {
  std::string requests, threads, taken, ideal, excess;
};
CounterText text_of(const Profiler::Counter& counter);

/// True if a kernel of the profile has counters.
bool has_counters(const std::vector<Profiler::Row>& rows);
/// The tables of all counters as text; empty without counters.
std::string counters_summary(const std::vector<Profiler::Row>& rows);
/// Appends these tables in HTML; nothing without counters.
void append_counters(const std::vector<Profiler::Row>& rows, std::string* page);

}  // namespace km
