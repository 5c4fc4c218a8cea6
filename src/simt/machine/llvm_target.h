// LLVM's target for the machines of this architecture.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include "simt/machine/machine.h"

namespace km::simt {

/// The triple that objects are made for.
const char* llvm_triple();

/// Makes LLVM know the target; once is enough.
void initialise_llvm_target();

/// The attributes without which LLVM does not use all registers of the machine.
void add_machine_attributes(llvm::Function& function, const Machine& machine);

/// The machine that a target machine makes code for.
Machine machine_of(const llvm::TargetMachine& target);

}  // namespace km::simt
