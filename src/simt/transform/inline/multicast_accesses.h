// Lowers multimem instructions; each multicast object has only one device here.
#pragma once

#include "ptx/ir.h"

namespace km::simt {

/// Replaces multimem instructions by accesses of the single memory behind a multicast address: a
/// load, store, reduction or bulk copy. A form without such an access stays unchanged.
void resolve_multicast(ptx::Function& function);

}  // namespace km::simt
