// LLVM's targets for the architectures that code is generated for.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "simt/machine/instruction_set.h"
#include "simt/machine/machine.h"

namespace km::simt {

/// An architecture's part of the set-up of LLVM.
class LlvmTarget {
 public:
  virtual ~LlvmTarget() = default;
  /// Registers the target with LLVM. One call per process is enough.
  virtual void initialise() const = 0;
  /// Adds the attributes without which LLVM avoids the widest vector registers.
  virtual void add_attributes(llvm::Function& function, const Machine& machine) const = 0;
};

/// Registers the targets of all architectures with LLVM.
void initialise_llvm_targets();

/// Adds the attributes that functions of a machine's code need.
void add_machine_attributes(llvm::Function& function, const Machine& machine);

/// The instructions of the architecture that a module's triple names; those of this build's if it
/// names none.
const InstructionSet& instruction_set_of(const llvm::Module& module);

/// The machine for which a target machine generates code.
Machine machine_of(const llvm::TargetMachine& target);

}  // namespace km::simt
