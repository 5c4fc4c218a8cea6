// Store-to-load forwarding for parts of vectors.
#pragma once

#include <llvm/IR/PassManager.h>

namespace km::simt {

/// Replaces a load of some elements of a vector that was stored earlier in the same basic block by
/// a shuffle of the stored value. LLVM only forwards whole vectors efficiently; it handles parts
/// with integers of the vector's width, or through memory if they do not start at its beginning.
class ForwardStores : public llvm::PassInfoMixin<ForwardStores> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace km::simt
