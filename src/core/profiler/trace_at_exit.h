// KM_TRACE and KM_COUNTERS: profiles of all contexts that are written when the program ends.
#pragma once

#include <memory>
#include <string_view>

#include "core/profiler/profiler.h"

namespace km {

/// True if KM_TRACE requests a trace.
bool is_tracing();
/// True if KM_COUNTERS requests counters.
bool is_counting();
/// Adds the profile to the trace, and to the counters on standard error, that are written when the
/// process ends. Throws std::bad_alloc.
void trace_at_exit(std::shared_ptr<Profiler> profiler);
/// Adds a compilation of CUDA C++, which belongs to no context, by the calling thread since
/// `begin_ns`. Throws std::bad_alloc.
void trace_compilation(std::string_view name, uint64_t begin_ns);

}  // namespace km
