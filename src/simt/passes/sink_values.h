// Sinks instructions to the blocks that need them.
#pragma once

#include <llvm/IR/PassManager.h>

namespace km::simt {

/// Moves instructions to the block with all their uses, past branches that do not need them. A load
/// stays if comparing it with the stores in between would take too long: LLVM's own pass takes
/// seconds in functions with a thousand loads and stores.
class SinkValues : public llvm::PassInfoMixin<SinkValues> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace km::simt
