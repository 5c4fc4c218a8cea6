// multimem, where one device takes part in each multicast object.
#pragma once

#include "ptx/ir.h"

namespace km::simt {

/// Rewrites multimem instructions as accesses of the one memory that a multicast address leads to:
/// a load, store, reduction or bulk copy. A form without such an access stays as it is.
void resolve_multicast(ptx::Function& function);

}  // namespace km::simt
