// Detects gathers in loops that lanes leave in different iterations: vectors gain little there, and
// the fewer lanes a packet has, the fewer wait for the last one.
#pragma once

#include "simt/analysis/shape.h"

namespace km::simt {

/// True if such loads dominate the kernel's time, and it contains only loads, stores and
/// arithmetic.
bool is_bound_by_gathers(const Kernel& kernel, const Shapes& shapes);

/// True if no value differs within a packet.
bool all_values_are_uniform(const Shapes& shapes);

}  // namespace km::simt
