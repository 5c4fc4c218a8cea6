#include "simt/passes/nan/keep_signalling_nans.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "simt/machine/llvm_target.h"

namespace km::simt {
namespace {

/// True if instruction selection makes an instruction of the select that tells no signalling NaN
/// from a quiet one.
bool becomes_extremum(llvm::SelectInst& choice) {
  llvm::Value *one = nullptr, *other = nullptr;
  const auto pattern = llvm::matchSelectPattern(&choice, one, other);
  return (pattern.Flavor == llvm::SPF_FMINNUM || pattern.Flavor == llvm::SPF_FMAXNUM) &&
         pattern.NaNBehavior == llvm::SPNB_RETURNS_OTHER;
}

/// Chooses between other values than those that are compared, as far as LLVM can see.
void hide_operand(llvm::SelectInst& choice) {
  llvm::IRBuilder<> builder(&choice);
  const unsigned side = llvm::isa<llvm::Constant>(choice.getTrueValue()) ? 2 : 1;
  choice.setOperand(side, builder.CreateFreeze(choice.getOperand(side)));
}

}  // namespace

void keep_signalling_nans(llvm::Module& module, const llvm::TargetMachine& target) {
  if (!machine_of(target).maximum_quiets_nans()) return;
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : block) {
        auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction);
        if (choice != nullptr && becomes_extremum(*choice)) hide_operand(*choice);
      }
    }
  }
}

}  // namespace km::simt
