#include "simt/passes/masks/word_masks.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <numeric>
#include <vector>

#include "base/assert.h"
#include "simt/machine/llvm_target.h"

namespace km::simt {
namespace {

using llvm::Instruction;
using llvm::Value;
namespace match = llvm::PatternMatch;

bool is_mask(const Value* value) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return type != nullptr && type->getElementType()->isIntegerTy(1);
}

unsigned lanes_of(const Value* mask) {
  return llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
}

/// The words of the masks of one function.
class WordMasks {
 public:
  explicit WordMasks(llvm::Function& function)
      : function_(function), layout_(function.getParent()->getDataLayout()) {}

  void run() {
    std::vector<Instruction*> masks, others;
    for (llvm::BasicBlock& block : function_) {
      for (Instruction& instruction : block) {
        (is_mask(&instruction) && has_form(instruction) ? masks : others).push_back(&instruction);
      }
    }
    for (Instruction* mask : masks) words_of(mask);
    fill_phis();
    for (Instruction* other : others) use_words(*other);
    for (Instruction* mask : masks) {
      mask->replaceAllUsesWith(llvm::PoisonValue::get(mask->getType()));
    }
    for (Instruction* replaced : replaced_) replaced->eraseFromParent();
    for (Instruction* mask : masks) mask->eraseFromParent();
  }

 private:
  llvm::FixedVectorType* words(const Value* mask) const {
    return llvm::FixedVectorType::get(llvm::Type::getInt32Ty(mask->getContext()), lanes_of(mask));
  }

  /// True for instructions that form() repeats on words. Others' masks are extended.
  static bool has_form(const Instruction& instruction) {
    switch (instruction.getOpcode()) {
      case Instruction::And:
      case Instruction::Or:
      case Instruction::Xor:
      case Instruction::PHI:
      case Instruction::Select:
      case Instruction::Freeze:
      case Instruction::ShuffleVector:
        return true;
      case Instruction::BitCast:
        return instruction.getOperand(0)->getType()->isIntegerTy();
      default:
        return false;
    }
  }

  Value* words_of(Value* mask) {
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(mask)) {
      return llvm::ConstantFoldCastOperand(Instruction::SExt, constant, words(mask), layout_);
    }
    if (Value* known = words_.lookup(mask)) return known;
    auto* instruction = llvm::dyn_cast<Instruction>(mask);
    llvm::IRBuilder<> builder(function_.getContext());
    if (instruction == nullptr) {
      builder.SetInsertPoint(&*function_.getEntryBlock().getFirstInsertionPt());
    } else if (llvm::isa<llvm::PHINode>(instruction)) {
      builder.SetInsertPoint(instruction);
    } else {
      builder.SetInsertPoint(instruction->getNextNode());
    }
    Value* made = instruction != nullptr && has_form(*instruction)
                      ? form(builder, *instruction)
                      : builder.CreateSExt(mask, words(mask));
    words_[mask] = made;
    return made;
  }

  Value* form(llvm::IRBuilder<>& b, Instruction& mask) {
    switch (mask.getOpcode()) {
      case Instruction::PHI:
        return empty_phi(b, llvm::cast<llvm::PHINode>(mask));
      case Instruction::Freeze:
        return b.CreateFreeze(words_of(mask.getOperand(0)));
      case Instruction::BitCast:
        return of_bits(b, mask.getOperand(0), lanes_of(&mask));
      case Instruction::ShuffleVector:
        return b.CreateShuffleVector(words_of(mask.getOperand(0)), words_of(mask.getOperand(1)),
                                     llvm::cast<llvm::ShuffleVectorInst>(mask).getShuffleMask());
      case Instruction::Select:
        return choice(b, llvm::cast<llvm::SelectInst>(mask));
      default:
        return b.CreateBinOp(llvm::cast<llvm::BinaryOperator>(mask).getOpcode(),
                             words_of(mask.getOperand(0)), words_of(mask.getOperand(1)));
    }
  }

  /// A phi's words come from blocks that may not have been seen yet.
  Value* empty_phi(llvm::IRBuilder<>& b, llvm::PHINode& mask) {
    auto* phi = b.CreatePHI(words(&mask), mask.getNumIncomingValues());
    phis_.push_back({&mask, phi});
    return phi;
  }

  void fill_phis() {
    for (size_t i = 0; i < phis_.size(); ++i) {  // which may become more
      const auto [mask, phi] = phis_[i];
      for (unsigned k = 0; k < mask->getNumIncomingValues(); ++k) {
        phi->addIncoming(words_of(mask->getIncomingValue(k)), mask->getIncomingBlock(k));
      }
    }
  }

  /// A choice by lanes is logic. The side that is not chosen may be poison.
  Value* choice(llvm::IRBuilder<>& b, llvm::SelectInst& mask) {
    Value *yes = words_of(mask.getTrueValue()), *no = words_of(mask.getFalseValue());
    if (!is_mask(mask.getCondition())) return b.CreateSelect(mask.getCondition(), yes, no);
    Value* condition = words_of(mask.getCondition());
    if (match::match(mask.getTrueValue(), match::m_AllOnes())) {
      return b.CreateOr(condition, frozen(b, no));
    }
    return blend(b, condition, frozen(b, yes), frozen(b, no));
  }

  static Value* frozen(llvm::IRBuilder<>& b, Value* value) {
    return llvm::isGuaranteedNotToBeUndefOrPoison(value) ? value : b.CreateFreeze(value);
  }

  /// The bits of one value and the other bits of another, which is one instruction.
  static Value* blend(llvm::IRBuilder<>& b, Value* words, Value* yes, Value* no) {
    Value* chosen = b.CreateAnd(words, yes);
    if (match::match(no, match::m_Zero())) return chosen;
    return b.CreateOr(chosen, b.CreateAnd(b.CreateNot(words), no));
  }

  /// A word for each bit: each lane tests its own.
  static Value* of_bits(llvm::IRBuilder<>& b, Value* bits, unsigned lanes) {
    KM_ASSERT(lanes <= 32, "a mask has at most as many lanes as a warp");
    std::vector<uint32_t> own(lanes);
    for (unsigned l = 0; l < lanes; ++l) own[l] = uint32_t{1} << l;
    llvm::Constant* tests = llvm::ConstantDataVector::get(b.getContext(), own);
    Value* all = b.CreateVectorSplat(lanes, b.CreateZExtOrTrunc(bits, b.getInt32Ty()));
    Value* set =
        b.CreateICmpNE(b.CreateAnd(all, tests), llvm::Constant::getNullValue(tests->getType()));
    return b.CreateSExt(set, tests->getType());
  }

  /// The mask as a vector of i1, of which `packed` says that it becomes bits.
  static Value* narrow(llvm::IRBuilder<>& b, Value* words, bool packed) {
    if (packed) {
      words = b.CreateTrunc(words, llvm::FixedVectorType::get(b.getInt8Ty(), lanes_of(words)));
    }
    return b.CreateICmpSLT(words, llvm::Constant::getNullValue(words->getType()));
  }

  /// True if the use of a mask is better by its words: those were made for another reason, or the
  /// comparison that gave the mask lies in another block.
  bool goes_by_words(const Value* mask, const Instruction& user) const {
    const auto* instruction = llvm::dyn_cast<Instruction>(mask);
    if (instruction == nullptr) return false;
    return has_form(*instruction) || instruction->getParent() != user.getParent();
  }

  void use_words(Instruction& user) {
    auto* bits = llvm::dyn_cast<llvm::BitCastInst>(&user);
    if (bits != nullptr && is_mask(bits->getOperand(0))) {
      test_words(*bits);
      if (bits->use_empty()) return replaced_.push_back(bits);
    }
    for (unsigned i = 0; i < user.getNumOperands(); ++i) {
      Value* mask = user.getOperand(i);
      if (!is_mask(mask) || !goes_by_words(mask, user)) continue;
      KM_ASSERT(!llvm::isa<llvm::PHINode>(user), "phis of masks have words of their own");
      if (Value* same = without_mask(user, words_of(mask))) {
        user.replaceAllUsesWith(same);
        return replaced_.push_back(&user);
      }
      llvm::IRBuilder<> builder(&user);
      user.setOperand(i, narrow(builder, words_of(mask), bits != nullptr));
    }
  }

  /// The user's result from the words of its mask; null if it needs the mask as a vector of i1.
  static Value* without_mask(Instruction& user, Value* words) {
    llvm::IRBuilder<> b(&user);
    if (user.getOpcode() == Instruction::SExt) return b.CreateSExtOrTrunc(words, user.getType());
    if (user.getOpcode() == Instruction::ExtractElement) {
      return b.CreateICmpSLT(b.CreateExtractElement(words, user.getOperand(1)), b.getInt32(0));
    }
    auto* choice = llvm::dyn_cast<llvm::SelectInst>(&user);
    const llvm::Type* element = user.getType()->getScalarType();
    if (choice == nullptr || !(element->isIntegerTy() || element->isFloatingPointTy())) {
      return nullptr;
    }
    auto* type = llvm::FixedVectorType::get(b.getIntNTy(user.getType()->getScalarSizeInBits()),
                                            lanes_of(words));
    const auto side = [&](Value* value) { return b.CreateBitCast(frozen(b, value), type); };
    Value* chosen = blend(b, b.CreateSExtOrTrunc(words, type), side(choice->getTrueValue()),
                          side(choice->getFalseValue()));
    return b.CreateBitCast(chosen, user.getType());
  }

  /// Tests of all bits at once, for zero or for ones, become one reduction.
  void test_words(llvm::BitCastInst& bits) {
    std::vector<llvm::ICmpInst*> tests;
    for (llvm::User* user : bits.users()) {
      auto* test = llvm::dyn_cast<llvm::ICmpInst>(user);
      if (test != nullptr && test->isEquality() &&
          match::match(test->getOperand(1),
                       match::m_CombineOr(match::m_Zero(), match::m_AllOnes()))) {
        tests.push_back(test);
      }
    }
    if (tests.size() != bits.getNumUses()) return;  // the bits are there anyway
    for (llvm::ICmpInst* test : tests) {
      llvm::IRBuilder<> builder(test);
      const bool any = match::match(test->getOperand(1), match::m_Zero());
      Value* word = reduce(builder, words_of(bits.getOperand(0)), any);
      test->setOperand(0, word);
      test->setOperand(1, any ? builder.getInt32(0) : builder.getInt32(UINT32_MAX));
    }
  }

  /// The or of all lanes, or their and.
  static Value* reduce(llvm::IRBuilder<>& b, Value* words, bool any) {
    for (unsigned lanes = lanes_of(words); lanes > kReducedLanes; lanes /= 2) {
      std::vector<int> low(lanes / 2), high(lanes / 2);
      std::iota(low.begin(), low.end(), 0);
      std::iota(high.begin(), high.end(), static_cast<int>(lanes / 2));
      Value *one = b.CreateShuffleVector(words, low), *other = b.CreateShuffleVector(words, high);
      words = any ? b.CreateOr(one, other) : b.CreateAnd(one, other);
    }
    return any ? b.CreateIntMaxReduce(words) : b.CreateIntMinReduce(words);
  }
  /// The number of lanes for which machines have an instruction that reduces them.
  static constexpr unsigned kReducedLanes = 4;

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  llvm::DenseMap<const Value*, Value*> words_;
  std::vector<std::pair<llvm::PHINode*, llvm::PHINode*>> phis_;  // a mask's, its words'
  std::vector<Instruction*> replaced_;                           // users that nothing uses now
};

}  // namespace

void make_word_masks(llvm::Module& module, const llvm::TargetMachine& target) {
  if (!machine_of(target).has_word_masks()) return;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) WordMasks(function).run();
  }
}

}  // namespace km::simt
