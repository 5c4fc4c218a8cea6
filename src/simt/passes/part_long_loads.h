// Splits long sequences of loads.
#pragma once

#include <llvm/IR/PassManager.h>

namespace km::simt {

/// Inserts a barrier, which LLVM keeps in place, between loads if very many follow each other in a
/// block. Instruction selection compares each loaded vector with all other loads and inputs of the
/// block up to the next access to memory: 800 of them take a second.
struct PartLongLoads : llvm::PassInfoMixin<PartLongLoads> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace km::simt
