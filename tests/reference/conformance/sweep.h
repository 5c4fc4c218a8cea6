// All inputs of instructions with one operand of at most 32 bits, on the engine and the reference.
#pragma once

#include "runner.h"

namespace km::reference {

/// Every `step`-th input of those among the variants; all of operands with 16 bits or fewer. Says
/// on the way what is done.
Report sweep_variants(const std::vector<Variant>& variants, uint64_t step);

}  // namespace km::reference
