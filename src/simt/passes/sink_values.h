// Values are made where they are needed.
#pragma once

#include <llvm/IR/PassManager.h>

namespace km::simt {

/// Moves instructions to the blocks where all their uses lie, past branches that do not need them.
/// Loads stay where comparing them with the stores in between would take long: LLVM's own pass
/// takes seconds in functions with a thousand loads and stores.
class SinkValues : public llvm::PassInfoMixin<SinkValues> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace km::simt
