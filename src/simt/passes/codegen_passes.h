// Passes of our own right before instruction selection.
#pragma once

#include <llvm/CodeGen/TargetPassConfig.h>

#include "base/interruption.h"

namespace km::simt {

/// Long blocks are cut into pieces, since scheduling and register allocation take the square of a
/// block's length; and functions whose code nobody waits for any more are emptied.
void add_codegen_passes(llvm::TargetPassConfig& config, const Interruption* interruption);

}  // namespace km::simt
