// Mode c: the lanes of a warp each have a place in the code. Groups of lanes at one place run
// together; the first in the code's order goes first, so that lanes that part meet again. Lanes
// that go round a loop that waits step back behind all others.
#pragma once

#include "simt/abi.h"

namespace km::simt {

/// The `live` lanes begin.
void independent_begin(IndependentWarp* warp, uint32_t live);

// RuntimeTable's entries.
uint64_t independent_next(IndependentWarp* warp);
void independent_sync(IndependentWarp* warp, uint32_t lanes, uint32_t operation, uint32_t state);

}  // namespace km::simt
