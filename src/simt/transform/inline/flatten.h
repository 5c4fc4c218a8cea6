// PTX to PTX, before the engine sees blocks: calls of functions with a body are inlined (recursive
// functions have one body, to which calls jump; of a pointer every function that fits is tried),
// and .param variables of call sequences become registers (or local memory where their address or
// an odd access needs it), and the carry flag becomes a register.
#pragma once

#include <memory>

#include "base/result.h"
#include "ptx/ir.h"
#include "simt/transform/inline/inlining_plan.h"

namespace km::simt {

/// A copy of function number `kernel` without calls to functions that have a body. What remains are
/// calls of known externals (vprintf, __assertfail), whose operands are now lists of registers or
/// immediates. KM_ERROR_UNSUPPORTED_PTX for unknown externals, variable arguments and kernels
/// beyond a limit of size, each with the line of the call. `stack_bytes`: of a thread, for
/// recursive calls and alloca.
Result<std::unique_ptr<ptx::Function>> flatten(const InliningCosts& costs, uint32_t kernel,
                                               uint64_t stack_bytes);

}  // namespace km::simt
