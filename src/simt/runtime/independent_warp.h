// Mode c: each lane of a warp has its own position in the code. Lanes at the same position run
// together as a group; the group that is first in code order runs first, so that diverged lanes
// reconverge. Lanes that repeat a loop that waits yield to all others.
#pragma once

#include "simt/abi.h"

namespace km::simt {

/// Starts the `live` lanes.
void independent_begin(IndependentWarp* warp, uint32_t live);

// Entries of RuntimeTable.
uint64_t independent_next(IndependentWarp* warp);
/// independent_next() in the order of the warp's schedule, which may divide groups and interrupt
/// the warp.
uint64_t scheduled_next(IndependentWarp* warp);
void independent_sync(IndependentWarp* warp, uint32_t lanes, uint32_t operation, uint32_t state);

}  // namespace km::simt
