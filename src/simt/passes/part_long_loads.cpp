#include "simt/passes/part_long_loads.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "simt/machine/instructions.h"

namespace km::simt {
namespace {

constexpr uint64_t kRegisterBits = 256;
constexpr uint64_t kMostRegisters = 128;  // loaded registers in one sequence

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
    llvm::IRBuilder<> builder(&each);
    instructions::add_mark(builder);
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
