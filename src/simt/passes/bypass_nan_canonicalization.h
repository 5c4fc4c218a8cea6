// Removes NaN canonicalisation from the critical path of arithmetic.
#pragma once

#include <llvm/IR/PassManager.h>

namespace km::simt {

/// Arithmetic on a value whose NaNs were canonicalised uses the raw value instead: the result is a
/// NaN in both cases, and is canonicalised itself before its bits are visible. Such values occur as
/// stores to shared memory that are loaded again.
class BypassNanCanonicalization : public llvm::PassInfoMixin<BypassNanCanonicalization> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace km::simt
