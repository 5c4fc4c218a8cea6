// Products of 64-bit lanes for machines that multiply words.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace km::simt {

/// Makes products of vectors of i64 out of products of their words, if
/// Machine::has_word_products(): one instruction if both factors are extended words, otherwise that
/// of the low words and the low halves of two more. No pass may come later that combines
/// instructions.
void make_word_products(llvm::Module& module, const llvm::TargetMachine& target);

}  // namespace km::simt
