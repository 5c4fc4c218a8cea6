// The engine's own passes directly before instruction selection.
#pragma once

#include <llvm/CodeGen/TargetPassConfig.h>

#include "base/interruption.h"

namespace km::simt {

/// Splits long blocks, since scheduling and register allocation take time quadratic in a block's
/// length, and empties functions once `interruption` fails.
void add_codegen_passes(llvm::TargetPassConfig& config, const Interruption* interruption);

}  // namespace km::simt
