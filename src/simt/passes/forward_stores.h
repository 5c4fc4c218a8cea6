// Loads of what the code before has stored.
#pragma once

#include <llvm/IR/PassManager.h>

namespace km::simt {

/// A load of some elements of a vector that was stored before in the same basic block takes them
/// out of the register. LLVM does so for whole vectors; parts go through integers as wide as the
/// vector there, and through memory where they do not begin with it.
class ForwardStores : public llvm::PassInfoMixin<ForwardStores> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace km::simt
