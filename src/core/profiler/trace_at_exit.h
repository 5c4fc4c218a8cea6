// KM_TRACE: what all contexts of a program did, written when it ends.
#pragma once

#include <memory>
#include <string_view>

#include "core/profiler/profiler.h"

namespace km {

/// True if KM_TRACE asks for a trace.
bool is_tracing();
/// Has the profile written at the end of the process. Throws std::bad_alloc.
void trace_at_exit(std::shared_ptr<Profiler> profiler);
/// Has a compilation of CUDA C++, which belongs to no context, written as well: by the calling
/// thread since `begin_ns`. Throws std::bad_alloc.
void trace_compilation(std::string_view name, uint64_t begin_ns);

}  // namespace km
