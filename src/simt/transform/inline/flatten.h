// PTX to PTX, before basic blocks are built: calls of functions with a body are inlined (a
// recursive function has one body, to which calls jump; for a pointer, every function that fits is
// compared), .param variables of call sequences become registers (or local memory, if their address
// is taken or an access is irregular), and the carry flag becomes a register.
#pragma once

#include <memory>

#include "base/result.h"
#include "ptx/ir.h"
#include "simt/transform/inline/inlining_plan.h"

namespace km::simt {

/// A copy of function number `kernel` without calls of functions that have a body. Only calls of
/// known externals (vprintf, __assertfail) remain, with lists of registers or immediates as
/// operands. KM_ERROR_UNSUPPORTED_PTX for unknown externals, variable arguments and kernels beyond
/// a size limit, with the line of the call. `stack_bytes` is the size of a thread's stack for
/// recursive calls and alloca.
Result<std::unique_ptr<ptx::Function>> flatten(const InliningCosts& costs, uint32_t kernel,
                                               uint64_t stack_bytes);

}  // namespace km::simt
