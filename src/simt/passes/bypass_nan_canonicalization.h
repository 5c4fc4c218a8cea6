// Arithmetic that need not wait until a NaN has the bits of PTX.
#pragma once

#include <llvm/IR/PassManager.h>

namespace km::simt {

/// Arithmetic on a value whose NaNs were given PTX's bits takes the value before that: the result
/// is a NaN in both cases, and its own bits are made PTX's before they are seen. Such values come
/// from stores to shared memory that are loaded again.
class BypassNanCanonicalization : public llvm::PassInfoMixin<BypassNanCanonicalization> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace km::simt
