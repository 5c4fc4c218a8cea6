// Removes redundant stores at barriers.
#pragma once

#include <llvm/IR/PassManager.h>

namespace km::simt {

/// Removes the store of a value that a packet keeps across barriers if the packet has loaded it
/// from the same place, since no other value occupied the place in between.
class RemoveRedundantSpills : public llvm::PassInfoMixin<RemoveRedundantSpills> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace km::simt
