// Removes code from a kernel that no thread reaches under the options of an analysis.
#pragma once

#include "simt/analysis/shape.h"
#include "simt/kernel/kernel.h"

namespace km::simt {

/// Analyses `kernel` and removes the sides of branches that the analysis has decided, repeatedly,
/// until none is left. `kernel` then points to the kernel that the returned shapes describe: the
/// original or `storage`.
Shapes analyse_and_prune(const Kernel*& kernel, Kernel& storage, const ShapeOptions& options);

}  // namespace km::simt
