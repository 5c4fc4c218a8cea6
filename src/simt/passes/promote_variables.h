// Promotes the emitter's variables to SSA values.
#pragma once

#include <llvm/IR/Analysis.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace km::simt {

/// The attribute of a function with so many blocks and variables that PromoteVariables left some in
/// memory. Passes whose time depends on their number skip it.
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

/// Does SROA's work for variables that are only loaded and stored. SROA takes time proportional to
/// variables times blocks if each variable is cleared at the function's start, as the emitter's
/// are; this pass first moves that store to the first use.
struct PromoteVariables : llvm::PassInfoMixin<PromoteVariables> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace km::simt
