// The operands of speculative values (see Shape). If a speculative value's base form does not hold,
// code computes it lane by lane from these operands at each of its uses, so they must be live
// there.
#pragma once

#include <vector>

#include "simt/analysis/shape.h"
#include "simt/transform/regions.h"

namespace km::simt {

/// The non-speculative values that a speculative value is computed from; none for other values.
std::vector<ValueId> exact_reads(const Kernel& kernel, const Shapes& shapes, ValueId value);

/// Adds the operands of a region's speculative live-in values to the values that the region finds
/// in the block's context.
void keep_exact_reads(const Kernel& kernel, const Shapes& shapes, Regions& regions);

}  // namespace km::simt
