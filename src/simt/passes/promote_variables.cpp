#include "simt/passes/promote_variables.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

namespace km::simt {
namespace {

using Accesses = llvm::SmallVector<llvm::Instruction*, 16>;

/// All loads and stores of a variable; empty if it has other uses too.
Accesses accesses_of(llvm::AllocaInst& variable) {
  Accesses found;
  llvm::Type* const type = variable.getAllocatedType();
  for (llvm::User* user : variable.users()) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(user);
    auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    const bool loads = load && load->isSimple() && load->getType() == type;
    const bool stores = store && store->isSimple() && store->getPointerOperand() == &variable &&
                        store->getValueOperand()->getType() == type;
    if (!loads && !stores) return {};
    found.push_back(llvm::cast<llvm::Instruction>(user));
  }
  return found;
}

/// The store of a constant that precedes all other accesses in the function's first block.
llvm::StoreInst* first_store(const Accesses& accesses, const llvm::BasicBlock& entry) {
  llvm::Instruction* first = nullptr;
  for (llvm::Instruction* access : accesses) {
    if (access->getParent() != &entry) continue;
    if (first == nullptr || access->comesBefore(first)) first = access;
  }
  auto* store = llvm::dyn_cast_or_null<llvm::StoreInst>(first);
  return store && llvm::isa<llvm::Constant>(store->getValueOperand()) ? store : nullptr;
}

/// A block that is executed once, before all accesses except `initial`; null if one of them is
/// unreachable.
llvm::BasicBlock* place_before(const Accesses& accesses, const llvm::Instruction* initial,
                               const llvm::DominatorTree& tree, const llvm::LoopInfo& loops) {
  llvm::BasicBlock* place = nullptr;
  for (const llvm::Instruction* access : accesses) {
    if (access == initial) continue;
    auto* block = const_cast<llvm::BasicBlock*>(access->getParent());
    if (!tree.isReachableFromEntry(block)) return nullptr;
    place = place == nullptr ? block : tree.findNearestCommonDominator(place, block);
  }
  while (place != nullptr && loops.getLoopFor(place) != nullptr) {
    const llvm::Loop* outermost = loops.getLoopFor(place)->getOutermostLoop();
    place = tree.getNode(outermost->getHeader())->getIDom()->getBlock();
  }
  return place;
}

/// To promote a variable, LLVM visits all blocks that its first store dominates. Beyond this many
/// steps, which take some seconds, the other variables stay in memory.
constexpr uint64_t kMostSteps = 4'000'000;

class Budget {
 public:
  explicit Budget(llvm::DominatorTree& tree) : tree_(tree) { tree.updateDFSNumbers(); }

  bool allows(const llvm::BasicBlock& place) {
    const auto* node = tree_.getNode(&place);
    steps_ += (node->getDFSNumOut() - node->getDFSNumIn()) / 2 + 1;
    return !is_spent();
  }
  bool is_spent() const { return steps_ > kMostSteps; }

 private:
  llvm::DominatorTree& tree_;
  uint64_t steps_ = 0;
};

}  // namespace

llvm::PreservedAnalyses PromoteVariables::run(llvm::Function& function,
                                              llvm::FunctionAnalysisManager& analyses) {
  auto& tree = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  const auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  const llvm::ReversePostOrderTraversal<const llvm::Function*> order(&function);
  // A cycle that is not a natural loop could execute the new position again.
  if (llvm::containsIrreducibleCFG<const llvm::BasicBlock*>(order, loops)) {
    return llvm::PreservedAnalyses::all();
  }
  llvm::BasicBlock& entry = function.getEntryBlock();
  llvm::SmallVector<llvm::AllocaInst*> variables, promoted;
  for (llvm::Instruction& instruction : entry) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (variable != nullptr && variable->isStaticAlloca()) variables.push_back(variable);
  }
  Budget budget(tree);
  for (llvm::AllocaInst* variable : variables) {
    const Accesses accesses = accesses_of(*variable);
    llvm::StoreInst* const initial = first_store(accesses, entry);
    if (initial == nullptr) continue;
    llvm::BasicBlock* const place = place_before(accesses, initial, tree, loops);
    if (place == nullptr) continue;
    if (!budget.allows(*place)) break;
    if (place != &entry) initial->moveBefore(*place, place->getFirstInsertionPt());
    promoted.push_back(variable);
  }
  llvm::PromoteMemToReg(promoted, tree);
  if (budget.is_spent()) function.addFnAttr(kVariablesInMemory);
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace km::simt
