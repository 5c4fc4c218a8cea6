// KM_TRACE: what all contexts of a program did, written when it ends.
#pragma once

#include <memory>

#include "core/profiler/profiler.h"

namespace km {

/// True if KM_TRACE asks for a trace.
bool is_tracing();
/// Has the profile written at the end of the process. Throws std::bad_alloc.
void trace_at_exit(std::shared_ptr<Profiler> profiler);

}  // namespace km
