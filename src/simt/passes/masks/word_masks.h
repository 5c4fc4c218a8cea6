// Masks for machines whose code generator has no good form of vectors of i1.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace km::simt {

/// Turns masks that are combined, or that cross blocks, into vectors of i32 whose lanes have all
/// bits equal, if Machine::has_word_masks(). LLVM otherwise holds such a mask in vectors of bytes,
/// or each lane in a register of its own, and converts between them and the words that comparisons
/// give and that choices take. No pass may come later that combines instructions.
void make_word_masks(llvm::Module& module, const llvm::TargetMachine& target);

}  // namespace km::simt
