#include "simt/passes/bypass_nan_canonicalization.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include "simt/passes/interleave_packets.h"

namespace km::simt {
namespace {

namespace patterns = llvm::PatternMatch;

constexpr unsigned kMostSteps = 4;  // maximum distance from the select to the arithmetic

/// If `value` is a select that canonicalises NaNs, its input; otherwise null.
llvm::Value* without_choice(llvm::Value* value) {
  auto* choice = llvm::dyn_cast<llvm::SelectInst>(value);
  if (choice == nullptr) return nullptr;
  const auto* test = llvm::dyn_cast<llvm::FCmpInst>(choice->getCondition());
  llvm::Value* raw = choice->getFalseValue();
  const bool is_test = test != nullptr && test->getPredicate() == llvm::FCmpInst::FCMP_UNO &&
                       test->getOperand(0) == raw &&
                       patterns::match(test->getOperand(1), patterns::m_AnyZeroFP());
  return is_test && patterns::match(choice->getTrueValue(), patterns::m_NaN()) ? raw : nullptr;
}

/// True if the call rounds to an integral number, which propagates NaNs.
bool is_integral_rounding(const llvm::IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::roundeven:
    case llvm::Intrinsic::rint:
    case llvm::Intrinsic::nearbyint:
    case llvm::Intrinsic::floor:
    case llvm::Intrinsic::ceil:
    case llvm::Intrinsic::trunc:
      return true;
    default:
      return false;
  }
}

/// Builds, before `user`, the part of the raw value that corresponds to `value`; null if there is
/// none.
llvm::Value* raw_of(llvm::Value* value, llvm::Instruction& user, unsigned steps = kMostSteps) {
  if (llvm::Value* raw = without_choice(value)) return raw;
  if (steps == 0) return nullptr;
  llvm::IRBuilder<> b(&user);
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(value)) {
    const bool keeps_nan = llvm::isa<llvm::FPExtInst>(cast) || llvm::isa<llvm::FPTruncInst>(cast);
    llvm::Value* raw = keeps_nan ? raw_of(cast->getOperand(0), user, steps - 1) : nullptr;
    return raw != nullptr ? b.CreateCast(cast->getOpcode(), raw, cast->getType()) : nullptr;
  }
  if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
      call && is_integral_rounding(*call)) {
    llvm::Value* raw = raw_of(call->getArgOperand(0), user, steps - 1);
    return raw != nullptr ? b.CreateUnaryIntrinsic(call->getIntrinsicID(), raw) : nullptr;
  }
  if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(value)) {
    llvm::Value* raw = raw_of(shuffle->getOperand(0), user, steps - 1);
    const bool is_alone = llvm::isa<llvm::Constant>(shuffle->getOperand(1));
    if (raw == nullptr || !is_alone) return nullptr;
    return b.CreateShuffleVector(raw, shuffle->getOperand(1), shuffle->getShuffleMask());
  }
  if (auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(value)) {
    llvm::Value* raw = raw_of(extract->getVectorOperand(), user, steps - 1);
    return raw != nullptr ? b.CreateExtractElement(raw, extract->getIndexOperand()) : nullptr;
  }
  return nullptr;
}

}  // namespace

llvm::PreservedAnalyses BypassNanCanonicalization::run(llvm::Function& function,
                                                       llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::Instruction& each : llvm::instructions(function)) {
    if (!is_interleaved_arithmetic(each)) continue;
    for (llvm::Use& operand : each.operands()) {
      llvm::Value* raw = raw_of(operand.get(), each);
      if (raw == nullptr) continue;
      operand.set(raw);
      changed = true;
    }
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace km::simt
