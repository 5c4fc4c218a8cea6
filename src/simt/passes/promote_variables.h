// Variables of the emitter become values.
#pragma once

#include <llvm/IR/Analysis.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace km::simt {

/// A function with so many blocks and variables that PromoteVariables left some in memory. Passes
/// that would go through all of them again are not for it.
constexpr const char* kVariablesInMemory = "km-variables-in-memory";

template <typename Pass>
class UnlessInMemory : public llvm::PassInfoMixin<UnlessInMemory<Pass>> {
 public:
  explicit UnlessInMemory(Pass pass) : pass_(std::move(pass)) {}

  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    if (function.hasFnAttribute(kVariablesInMemory)) return llvm::PreservedAnalyses::all();
    return pass_.run(function, analyses);
  }

 private:
  Pass pass_;
};

/// Does SROA's work for variables that are only loaded and stored. SROA costs variables times
/// blocks if each variable is set to zero at the function's beginning, as the emitter's are; this
/// pass moves that store to the first use, and looks no further.
struct PromoteVariables : llvm::PassInfoMixin<PromoteVariables> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace km::simt
