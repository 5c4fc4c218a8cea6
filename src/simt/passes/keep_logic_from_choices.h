// A workaround for a bug in LLVM's code generator.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace km::simt {

/// With AVX-512, LLVM 19 combines three-operand logic and a choice between lanes (a select, or a
/// shuffle for a constant mask) to one masked `vpternlog`, with a wrong table if one operand comes
/// from memory (as constants do) and another is the pass-through value (llvm/llvm-project#157929,
/// fixed there in 2026-07). An empty inline assembly between the logic and the choice, which costs
/// nothing, prevents the combination.
void keep_logic_from_choices(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace km::simt
