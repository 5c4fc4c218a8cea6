// KM_TRACE: writes the profiles of all contexts when the program ends.
#pragma once

#include <memory>
#include <string_view>

#include "core/profiler/profiler.h"

namespace km {

/// True if KM_TRACE requests a trace.
bool is_tracing();
/// Adds the profile to the trace that is written when the process ends. Throws std::bad_alloc.
void trace_at_exit(std::shared_ptr<Profiler> profiler);
/// Adds a compilation of CUDA C++, which belongs to no context, by the calling thread since
/// `begin_ns`. Throws std::bad_alloc.
void trace_compilation(std::string_view name, uint64_t begin_ns);

}  // namespace km
