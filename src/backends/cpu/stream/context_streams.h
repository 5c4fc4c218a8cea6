// Operations on all streams of a context.
#pragma once

#include <vector>

#include "backend/interface.h"

namespace km::cpu {

class Context;

/// Waits until all work that was submitted before is complete.
void drain(const Context& context);
/// True if no work is queued or runs.
bool is_idle(const Context& context);
/// Adds a use for each stream, with its last submitted ticket.
void add_uses(const Context& context, std::vector<kmb_use>* uses);
/// Allows or forbids kernels of the context to access memory of `peer`. Kernels that were submitted
/// before a ban may still access it.
void set_peer(Context& context, const Context& peer, bool enabled);
/// Reports what kernels have not freed, stops kernels, drops queued work and clears the sticky
/// error.
void reset(Context& context);

}  // namespace km::cpu
