// Loads at addresses of each lane's own, in loops that lanes leave at different times: vectors gain
// little there, and the fewer lanes a packet has, the fewer wait for its last one.
#pragma once

#include "simt/analysis/shape.h"

namespace km::simt {

/// True if the kernel's time goes to such loads, and it holds nothing but loads, stores and
/// arithmetic.
bool is_bound_by_gathers(const Kernel& kernel, const Shapes& shapes);

/// True if no value differs within a packet.
bool all_values_are_uniform(const Shapes& shapes);

}  // namespace km::simt
