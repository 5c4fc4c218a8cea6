// A workaround for a bug in LLVM's code generator.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace km::simt {

/// Keeps three-operand logic apart from the selects that use it. On machines with ternary logic,
/// LLVM 19 merges both (also a shuffle with a constant mask) into one masked instruction, with a
/// wrong truth table if one operand comes from memory, as constants do, and another is the value
/// that inactive lanes keep (llvm/llvm-project#157929). Such logic results pass through empty
/// assembly, which costs nothing.
void keep_logic_from_choices(llvm::Module& module, const llvm::TargetMachine& target);

}  // namespace km::simt
