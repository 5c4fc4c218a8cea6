// The middle of the pipeline: LLVM's passes over a kernel's module.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "base/interruption.h"

namespace km::simt {

/// Improves the module in place. Knows no library functions, vectorises nothing, and unrolls only
/// loops whose metadata asks for it. Once `interruption` gives an error the passes that are left do
/// nothing.
void run_passes(llvm::Module& module, llvm::TargetMachine& machine,
                const Interruption* interruption = nullptr);

}  // namespace km::simt
