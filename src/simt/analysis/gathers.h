// What lanes read at addresses of their own in loops that they leave at different times: there
// vectors gain little, and the fewer lanes a packet has, the fewer wait for its last one.
#pragma once

#include "simt/analysis/shape.h"

namespace km::simt {

/// Whether the kernel's time goes to such loads, and nothing but loads, stores and arithmetic is in
/// it.
bool is_bound_by_gathers(const Kernel& kernel, const Shapes& shapes);

/// Whether no value differs within a packet.
bool all_values_are_uniform(const Shapes& shapes);

}  // namespace km::simt
