#include "simt/passes/keep_logic_from_choices.h"
#include "simt/machine/instructions.h"
#include "simt/machine/llvm_target.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace km::simt {
namespace {

bool has_constant(const llvm::Value* value) {
  const auto* and_ = llvm::dyn_cast<llvm::BinaryOperator>(value);
  return and_ != nullptr && and_->getOpcode() == llvm::Instruction::And &&
         (llvm::isa<llvm::Constant>(and_->getOperand(0)) ||
          llvm::isa<llvm::Constant>(and_->getOperand(1)));
}

/// Three-operand logic, or a pattern that the code generator may treat as such: bits of one value
/// and the other bits of another.
bool is_ternary(const llvm::Value* value) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value)) {
    const auto id = call->getIntrinsicID();
    return instructions::is_ternary_logic(id) || id == llvm::Intrinsic::copysign;
  }
  if (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value)) {
    return is_ternary(cast->getOperand(0));
  }
  if (const auto* joined = llvm::dyn_cast<llvm::ShuffleVectorInst>(value)) {
    return is_ternary(joined->getOperand(0)) || is_ternary(joined->getOperand(1));
  }
  const auto* or_ = llvm::dyn_cast<llvm::BinaryOperator>(value);
  return or_ != nullptr && or_->getOpcode() == llvm::Instruction::Or &&
         has_constant(or_->getOperand(0)) && has_constant(or_->getOperand(1));
}

/// Passes a value through assembly, a register at a time.
llvm::Value* opaque(llvm::IRBuilder<>& b, llvm::Value* value, const Machine& machine) {
  auto* type = llvm::cast<llvm::FixedVectorType>(value->getType());
  const unsigned count = type->getNumElements();
  const unsigned each = std::min(count, machine.elements_of(type->getScalarSizeInBits()));
  std::vector<llvm::Value*> parts;
  for (unsigned first = 0; first < count; first += each) {
    std::vector<int> picks(each);
    std::iota(picks.begin(), picks.end(), static_cast<int>(first));
    parts.push_back(instructions::opaque_vector(b, b.CreateShuffleVector(value, picks)));
  }
  return llvm::concatenateVectors(b, parts);
}

/// True for types that are held in vector registers unchanged, which excludes masks.
bool is_plain(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector != nullptr && vector->getScalarSizeInBits() >= 8;
}

/// The operands of a select or shuffle that hold the two values; empty if the instruction is
/// neither. A select by a constant mask is a shuffle.
std::vector<unsigned> choices_of(const llvm::Instruction& instruction) {
  if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    if (select->getCondition()->getType()->isVectorTy()) return {1, 2};
  }
  const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction);
  if (shuffle != nullptr && shuffle->isSelect()) return {0, 1};
  return {};
}

void keep_apart(llvm::Instruction& choice, const Machine& machine) {
  if (!is_plain(choice.getType())) return;
  for (const unsigned side : choices_of(choice)) {
    llvm::IRBuilder<> builder(&choice);
    llvm::Value* value = choice.getOperand(side);
    if (is_ternary(value)) choice.setOperand(side, opaque(builder, value, machine));
  }
}

}  // namespace

void keep_logic_from_choices(llvm::Module& module, const llvm::TargetMachine& target) {
  const Machine machine = machine_of(target);
  if (!machine.has_ternary_logic()) return;
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : block) keep_apart(instruction, machine);
    }
  }
}

}  // namespace km::simt
