// The second half of flatten(): variables of call sequences become registers.
#pragma once

#include "ptx/ir.h"

namespace km::simt {

/// Rewrites `function`, whose calls are inlined. A .param variable that is no parameter of the
/// function itself becomes registers where every access has a known offset and natural alignment,
/// else it moves to .local.
void promote_params(ptx::Function& function);

}  // namespace km::simt
