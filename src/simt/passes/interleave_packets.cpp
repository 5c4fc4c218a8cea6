#include "simt/passes/interleave_packets.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "simt/passes/context_memory.h"

namespace km::simt {

namespace {

/// Computes and applies the new order of a block's instructions.
class Interleaver {
 public:
  Interleaver(llvm::BasicBlock& block, llvm::AAResults& aliases, unsigned kind)
      : block_(block), aliases_(aliases), kind_(kind) {}

  bool run() {
    for (llvm::Instruction& each : block_) {
      if (!llvm::isa<llvm::PHINode>(each) && !each.isTerminator()) list_.push_back(&each);
    }
    if (!measure() || !may_move()) return false;
    for (unsigned depth = 1; depth <= deepest_; ++depth) {
      for (llvm::Instruction* each : list_) {
        if (is_interleaved(*each) && depth_[each] == depth) place(each);
      }
    }
    for (llvm::Instruction* each : list_) place(each);
    KM_ASSERT(placed_.size() == list_.size(), "each instruction has its place in the new order");
    return true;
  }

 private:
  bool is_interleaved(const llvm::Instruction& each) const {
    return each.getMetadata(kind_) != nullptr;
  }

  /// Computes the dependency depth of all instructions, counting marked ones. Returns false if the
  /// chains are too short for interleaving to help.
  bool measure() {
    constexpr unsigned kLeastDepth = 4;
    for (llvm::Instruction* each : list_) {
      unsigned depth = 0;
      for (llvm::Value* operand : each->operands()) depth = std::max(depth, depth_.lookup(operand));
      depth_[each] = depth + (is_interleaved(*each) ? 1 : 0);
      deepest_ = std::max(deepest_, depth_[each]);
    }
    return deepest_ >= kLeastDepth;
  }

  /// True if all loads may come before all stores in the new order.
  bool may_move() {
    std::vector<llvm::MemoryLocation> stored;
    for (llvm::Instruction* each : list_) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(each)) {
        const auto from = llvm::MemoryLocation::get(load);
        // A packet loads its kept values before it stores any of them, and no other packet stores
        // them.
        const bool is_stored =
            !is_in_context(*load) && std::any_of(stored.begin(), stored.end(), [&](const auto& to) {
              return !aliases_.isNoAlias(from, to);
            });
        if (!load->isSimple() || is_stored) return false;
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(each)) {
        if (!store->isSimple()) return false;
        stored.push_back(llvm::MemoryLocation::get(store));
      } else if (each->mayReadOrWriteMemory()) {
        return false;
      }
    }
    return true;
  }

  /// Places an instruction at the end of the new order, after its operands.
  void place(llvm::Instruction* each) {
    if (!placed_.insert(each).second) return;
    for (llvm::Value* operand : each->operands()) {
      auto* made = llvm::dyn_cast<llvm::Instruction>(operand);
      if (made != nullptr && depth_.count(made) != 0) place(made);
    }
    each->moveBefore(block_.getTerminator());
  }

  llvm::BasicBlock& block_;
  llvm::AAResults& aliases_;
  const unsigned kind_;
  std::vector<llvm::Instruction*> list_;
  llvm::DenseMap<const llvm::Value*, unsigned> depth_;
  llvm::DenseSet<const llvm::Value*> placed_;
  unsigned deepest_ = 0;
};

}  // namespace

bool is_interleaved_arithmetic(const llvm::Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    return call->getIntrinsicID() == llvm::Intrinsic::fma;
  }
  return llvm::isa<llvm::BinaryOperator>(instruction) && instruction.getType()->isFPOrFPVectorTy();
}

llvm::PreservedAnalyses InterleavePackets::run(llvm::Function& function,
                                               llvm::FunctionAnalysisManager& analyses) {
  auto& aliases = analyses.getResult<llvm::AAManager>(function);
  const unsigned kind = function.getContext().getMDKindID(kInterleavedMetadata);
  bool changed = false;
  for (llvm::BasicBlock& block : function) {
    const bool is_interleaved = std::any_of(block.begin(), block.end(), [&](const auto& each) {
      return each.getMetadata(kind) != nullptr;
    });
    if (is_interleaved) changed |= Interleaver(block, aliases, kind).run();
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace km::simt
