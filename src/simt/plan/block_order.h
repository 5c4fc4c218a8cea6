// The order in which mode a runs blocks.
#pragma once

#include "simt/plan/plan.h"

namespace km::simt {

/// True if blocks run side by side: a row of threads of each, then the next row. Memory is gone
/// through from its beginning to its end then, which processors see coming; block by block, a row
/// of threads ends after a few lines.
bool runs_side_by_side(const Plan& plan);

}  // namespace km::simt
