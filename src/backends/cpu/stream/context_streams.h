// The work of a context in all of its streams.
#pragma once

#include <vector>

#include "backend/interface.h"

namespace km::cpu {

class Context;

/// Waits until everything that was submitted before is complete.
void drain(const Context& context);
/// Adds what was submitted so far to each stream.
void add_uses(const Context& context, std::vector<kmb_use>* uses);
/// Kernels of the context may touch memory of `peer`, or no longer: those that were submitted
/// before still may.
void set_peer(Context& context, const Context& peer, bool enabled);
/// Stops kernels, drops queued work, clears the sticky error.
void reset(Context& context);

}  // namespace km::cpu
