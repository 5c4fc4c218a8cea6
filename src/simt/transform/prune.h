// Takes out of a kernel what no thread reaches under the options of an analysis.
#pragma once

#include "simt/analysis/shape.h"
#include "simt/kernel.h"

namespace km::simt {

/// Analyses `kernel`, and takes out the sides of branches that the analysis has decided, until none
/// is left. `kernel` then is what the shapes are of: still what it was, or `storage`.
Shapes analyse_and_prune(const Kernel*& kernel, Kernel& storage, const ShapeOptions& options);

}  // namespace km::simt
