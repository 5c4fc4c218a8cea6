// The first half of flatten(): calls of functions with a body are replaced by the body, or by jumps
// to the only body of a recursive function.
#pragma once

#include "base/result.h"
#include "ptx/ir.h"
#include "simt/transform/inline/inlining_plan.h"

namespace km::simt {

/// A copy of function number `kernel` that calls only known externals, with registers, immediates
/// and .param variables as operands. Variables of call sequences stay in .param space.
Result<ptx::Function> inline_calls(const InliningCosts& costs, uint32_t kernel);

}  // namespace km::simt
