// Additions of each round of a loop are counted once for all threads if they are the same for all.
#pragma once

#include "simt/kernel.h"

namespace km::simt {

/// In loops with barriers, where values are kept from one barrier to the next: an address that
/// each round moves on by a step that is the same for all threads becomes a sum of where it begins,
/// which no round changes, and of how far it has come, which is the same for all threads.
/// Adds registers to `function`, which the kernel was built from.
void split_induction_variables(Kernel& kernel, ptx::Function& function);

}  // namespace km::simt
