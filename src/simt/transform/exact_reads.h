// The values that speculative values (see Shape) are made of: code that makes a speculative value
// lane by lane, because its base form does not hold, reads them wherever the value itself is read.
#pragma once

#include <vector>

#include "simt/analysis/shape.h"
#include "simt/transform/regions.h"

namespace km::simt {

/// The values that a speculative one is computed from, none of them speculative; of other values:
/// none.
std::vector<ValueId> exact_reads(const Kernel& kernel, const Shapes& shapes, ValueId value);

/// Adds to what each region finds in the block's context what the speculative values there are made
/// of.
void keep_exact_reads(const Kernel& kernel, const Shapes& shapes, Regions& regions);

}  // namespace km::simt
