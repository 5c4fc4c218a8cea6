// The middle of the pipeline: LLVM's passes over a kernel's module.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "base/interruption.h"

namespace km::simt {

/// Optimises the module in place. It knows no library functions, does not vectorise, and unrolls
/// only loops whose metadata requests it. Once `interruption` fails, the remaining passes do
/// nothing.
void run_passes(llvm::Module& module, llvm::TargetMachine& machine,
                const Interruption* interruption = nullptr);

}  // namespace km::simt
