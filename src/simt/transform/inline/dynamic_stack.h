// Lowers alloca, stacksave and stackrestore to arithmetic on a stack pointer.
#pragma once

#include "ptx/ir.h"

namespace km::simt {

/// True if the function contains such instructions.
bool allocates_stack(const ptx::Function& function);

/// Gives each thread of such a function a stack of `stack_bytes` in local memory; a kernel that
/// exceeds it ends with a fault.
void make_stack_explicit(ptx::Function& function, uint64_t stack_bytes);

/// True if the symbol is the stack that make_stack_explicit() has made.
bool is_stack(const ptx::Symbol& symbol);

/// True if make_stack_explicit() has given the function's threads a stack.
bool has_stack(const ptx::Function& function);

}  // namespace km::simt
