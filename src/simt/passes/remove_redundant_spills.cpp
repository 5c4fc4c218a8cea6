#include "simt/passes/remove_redundant_spills.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <vector>

#include "simt/passes/context_memory.h"

namespace km::simt {

namespace {

bool stores_what_is_there(const llvm::StoreInst& store) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(store.getValueOperand());
  return load != nullptr && is_in_context(store) && is_in_context(*load) &&
         load->getPointerOperand() == store.getPointerOperand();
}

}  // namespace

llvm::PreservedAnalyses RemoveRedundantSpills::run(llvm::Function& function,
                                                   llvm::FunctionAnalysisManager&) {
  std::vector<llvm::Instruction*> idle;
  for (llvm::Instruction& each : llvm::instructions(function)) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&each);
    if (store != nullptr && stores_what_is_there(*store)) idle.push_back(store);
  }
  for (llvm::Instruction* store : idle) store->eraseFromParent();
  if (idle.empty()) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace km::simt
