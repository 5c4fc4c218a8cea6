// LLVM's target for the machines of this architecture.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include "simt/machine/machine.h"

namespace km::simt {

/// The target triple of generated objects.
const char* llvm_triple();

/// Registers the target with LLVM. One call per process is enough.
void initialise_llvm_target();

/// Adds the attributes without which LLVM avoids the widest vector registers.
void add_machine_attributes(llvm::Function& function, const Machine& machine);

/// The machine for which a target machine generates code.
Machine machine_of(const llvm::TargetMachine& target);

}  // namespace km::simt
