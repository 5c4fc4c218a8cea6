#include "simt/passes/sink_values.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <vector>

namespace km::simt {
namespace {

/// Limits the comparisons of an access with a store, per function.
constexpr uint64_t kMostComparisons = 50'000;

llvm::BasicBlock* block_of(const llvm::Use& use) {
  auto* user = llvm::cast<llvm::Instruction>(use.getUser());
  auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
  return phi != nullptr ? phi->getIncomingBlock(use) : user->getParent();
}

class Sinker {
 public:
  Sinker(llvm::Function& function, llvm::FunctionAnalysisManager& analyses)
      : function_(function),
        tree_(analyses.getResult<llvm::DominatorTreeAnalysis>(function)),
        loops_(analyses.getResult<llvm::LoopAnalysis>(function)),
        aliases_(analyses.getResult<llvm::AAManager>(function)) {}

  bool run() {
    bool any = false;
    for (bool changed = true; changed;) {
      changed = false;
      for (llvm::BasicBlock& block : function_) {
        if (tree_.isReachableFromEntry(&block)) changed |= run(block);
      }
      any |= changed;
    }
    return any;
  }

 private:
  /// Visits instructions from last to first, so that the operands of a sunk instruction can follow
  /// it.
  bool run(llvm::BasicBlock& block) {
    writes_.clear();
    bool changed = false;
    for (llvm::Instruction& each : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (each.mayWriteToMemory()) {
        writes_.push_back(&each);
      } else if (may_move(each)) {
        changed |= sink(each);
      }
    }
    return changed;
  }

  bool may_move(const llvm::Instruction& each) {
    const bool stays = each.isTerminator() || llvm::isa<llvm::PHINode>(each) || each.isEHPad() ||
                       each.mayThrow() || !each.willReturn() || is_variable(each);
    if (stays) return false;
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&each);
    if (call != nullptr && call->isConvergent()) return false;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&each);
    if (load == nullptr && call == nullptr) return true;
    comparisons_ += writes_.size();
    if (comparisons_ > kMostComparisons) return false;
    return std::none_of(writes_.begin(), writes_.end(), [&](const llvm::Instruction* write) {
      const auto effect = load != nullptr
                              ? aliases_.getModRefInfo(write, llvm::MemoryLocation::get(load))
                              : aliases_.getModRefInfo(write, call);
      return llvm::isModSet(effect);
    });
  }

  static bool is_variable(const llvm::Instruction& each) {
    const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&each);
    return variable != nullptr && variable->isStaticAlloca();
  }

  bool sink(llvm::Instruction& each) {
    llvm::BasicBlock* const from = each.getParent();
    llvm::BasicBlock* to = nullptr;
    for (const llvm::Use& use : each.uses()) {
      llvm::BasicBlock* const block = block_of(use);
      if (!tree_.isReachableFromEntry(block)) continue;
      to = to == nullptr ? block : tree_.findNearestCommonDominator(to, block);
      if (!tree_.dominates(from, to)) return false;
    }
    while (to != nullptr && to != from && !is_good_place(each, *to)) {
      to = tree_.getNode(to)->getIDom()->getBlock();
    }
    if (to == nullptr || to == from) return false;
    each.moveBefore(*to, to->getFirstInsertionPt());
    return true;
  }

  /// True if the block is reached only from here, or only on paths on which the instruction was
  /// executed at least as often.
  bool is_good_place(const llvm::Instruction& each, llvm::BasicBlock& to) const {
    if (to.getUniquePredecessor() == each.getParent()) return true;
    const bool reads =
        each.mayReadFromMemory() && !each.hasMetadata(llvm::LLVMContext::MD_invariant_load);
    const llvm::Loop* const loop = loops_.getLoopFor(&to);
    return !reads && tree_.dominates(each.getParent(), &to) &&
           (loop == nullptr || loop == loops_.getLoopFor(each.getParent()));
  }

  llvm::Function& function_;
  llvm::DominatorTree& tree_;
  llvm::LoopInfo& loops_;
  llvm::AAResults& aliases_;
  std::vector<llvm::Instruction*> writes_;  // stores of the block after the instruction
  uint64_t comparisons_ = 0;
};

}  // namespace

llvm::PreservedAnalyses SinkValues::run(llvm::Function& function,
                                        llvm::FunctionAnalysisManager& analyses) {
  if (!Sinker(function, analyses).run()) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace km::simt
