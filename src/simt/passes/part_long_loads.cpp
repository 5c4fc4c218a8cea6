#include "simt/passes/part_long_loads.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>

namespace km::simt {
namespace {

constexpr uint64_t kRegisterBits = 256;
constexpr uint64_t kMostRegisters = 128;  // loaded registers in one sequence

/// An empty inline assembly that is ordered with accesses to memory.
void add_mark(llvm::Instruction& before) {
  llvm::IRBuilder<> b(&before);
  auto* type = llvm::FunctionType::get(b.getVoidTy(), false);
  auto* call = b.CreateCall(llvm::InlineAsm::get(type, "", "", /*hasSideEffects=*/true));
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
}

bool part_loads(llvm::BasicBlock& block, const llvm::DataLayout& layout) {
  uint64_t registers = 0;
  bool changed = false;
  for (llvm::Instruction& each : block) {
    if (!llvm::isa<llvm::LoadInst>(each)) {
      if (each.mayHaveSideEffects()) registers = 0;
      continue;
    }
    const uint64_t bits = layout.getTypeSizeInBits(each.getType()).getFixedValue();
    registers += (bits + kRegisterBits - 1) / kRegisterBits;
    if (registers <= kMostRegisters) continue;
    add_mark(each);
    registers = 0;
    changed = true;
  }
  return changed;
}

}  // namespace

llvm::PreservedAnalyses PartLongLoads::run(llvm::Function& function,
                                           llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::BasicBlock& block : function) changed |= part_loads(block, function.getDataLayout());
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace km::simt
