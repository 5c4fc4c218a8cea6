// Stores at barriers that change nothing.
#pragma once

#include <llvm/IR/PassManager.h>

namespace km::simt {

/// Removes the store of a value that a packet keeps between barriers if the packet has loaded it
/// from there: no other value has this place in between.
class RemoveRedundantSpills : public llvm::PassInfoMixin<RemoveRedundantSpills> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace km::simt
