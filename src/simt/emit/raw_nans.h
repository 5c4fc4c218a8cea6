// Arithmetic that need not wait until a NaN has the bits of PTX.
#pragma once

#include <llvm/IR/PassManager.h>

namespace km::simt {

/// Where a value is given PTX's NaN for any other one, and a sum or product is made of that, takes
/// the value as it was: what comes out is a NaN in both cases, whose bits are made PTX's before
/// anybody sees them. Such values come from stores to shared memory that are loaded again.
class TakeRawNans : public llvm::PassInfoMixin<TakeRawNans> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace km::simt
