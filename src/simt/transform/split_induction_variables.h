// Splits induction variables, so that a step that is the same for all threads is added once for all
// of them.
#pragma once

#include "simt/kernel/kernel.h"

namespace km::simt {

/// For loops with barriers, in which values are kept across barriers: an address that each
/// iteration advances by a step that is the same for all threads becomes the sum of its initial
/// value, which is loop-invariant, and of the distance, which is the same for all threads. Adds
/// registers to `function`, from which the kernel was built.
void split_induction_variables(Kernel& kernel, ptx::Function& function);

}  // namespace km::simt
