// The second half of flatten(): promotes variables of call sequences to registers.
#pragma once

#include "ptx/ir.h"

namespace km::simt {

/// Rewrites `function`, whose calls must be inlined. A .param variable that is not a parameter of
/// the function itself becomes registers if every access has a known offset and natural alignment,
/// otherwise it moves to .local.
void promote_params(ptx::Function& function);

}  // namespace km::simt
