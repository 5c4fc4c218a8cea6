// Variables of the emitter become values.
#pragma once

#include <llvm/IR/Analysis.h>
#include <llvm/IR/PassManager.h>

namespace km::simt {

/// What SROA would do for variables that are only loaded and stored. Its way costs variables times
/// blocks where each variable is set to zero at the function's beginning, as the emitter's are;
/// this one moves that store to where the variable is used first, and looks no further than that.
struct PromoteVariables : llvm::PassInfoMixin<PromoteVariables> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace km::simt
