// Long rows of loads, cut into shorter ones.
#pragma once

#include <llvm/IR/PassManager.h>

namespace km::simt {

/// Puts something between loads, if very many follow each other in a block, that LLVM keeps
/// in its place. Instruction selection compares each vector that is loaded with all other loads and
/// inputs of the block between which nothing else accesses memory: 800 of them take a second.
struct PartLongLoads : llvm::PassInfoMixin<PartLongLoads> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace km::simt
