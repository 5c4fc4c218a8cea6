// Marks of registers and local memory that nothing has written, for the checker's `init`.
#pragma once

#include "simt/kernel/kernel.h"
#include "simt/undefined_use.h"

namespace km::simt {

/// True if the kernel may read a register that no instruction has written on the way there.
bool may_read_undefined(const Kernel& kernel);

/// Gives each register of a flattened function that may be undefined a predicate which says whether
/// it is, and adds a mark (undefined_use()) before each instruction to which it matters, executed
/// by the threads whose register is undefined. `kernel` is made of the function; `has_locals` also
/// adds the mark UndefinedUse::locals at its begin.
void mark_undefined(ptx::Function& function, const Kernel& kernel, bool has_locals);

/// The meaning of a mark; UndefinedUse::none for all other instructions.
UndefinedUse undefined_use(const ptx::Instruction& instruction);

}  // namespace km::simt
