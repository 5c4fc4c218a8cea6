// alloca, stacksave and stackrestore become arithmetic on a stack pointer.
#pragma once

#include "ptx/ir.h"
#include "simt/engine.h"

namespace km::simt {

/// The stack of a thread, in local memory; a kernel that needs more of it ends with a fault. No
/// power of two: the threads' frames would all fall into the same sets of a cache.
constexpr uint64_t kDynamicStackBytes = kThreadStackBytes + 64;

/// True if the function has such instructions.
bool allocates_stack(const ptx::Function& function);

void make_stack_explicit(ptx::Function& function);

}  // namespace km::simt
