// The order in which mode a executes the blocks of the grid.
#pragma once

#include "simt/plan/plan.h"

namespace km::simt {

/// True if blocks are interleaved: one row of threads of each block, then the next row. Memory is
/// then accessed in ascending order, which hardware prefetchers recognise; block by block, each row
/// of threads ends after a few cache lines.
bool runs_side_by_side(const Plan& plan);

}  // namespace km::simt
