#include "simt/passes/products/word_products.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "simt/machine/instructions.h"
#include "simt/machine/llvm_target.h"

namespace km::simt {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr unsigned kWordBits = 32;
constexpr unsigned kWords = 4;  // of a register, which the words of two registers fill

/// The words of a vector of i64, up to four in a vector.
using Words = llvm::SmallVector<Value*, 8>;

unsigned lanes_of(const Value* vector) {
  return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
}

bool is_product(const Instruction& instruction) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
  return instruction.getOpcode() == Instruction::Mul && type != nullptr &&
         type->getElementType()->isIntegerTy(2 * kWordBits) && type->getNumElements() % 2 == 0;
}

Value* part(llvm::IRBuilderBase& b, Value* vector, unsigned first, unsigned count) {
  if (count == lanes_of(vector)) return vector;
  std::vector<int> lanes(count);
  std::iota(lanes.begin(), lanes.end(), static_cast<int>(first));
  return b.CreateShuffleVector(vector, lanes);
}

/// The products of one function.
class WordProducts {
 public:
  explicit WordProducts(llvm::Function& function)
      : function_(function), layout_(function.getParent()->getDataLayout()) {}

  void run() {
    std::vector<Instruction*> products;
    for (llvm::BasicBlock& block : function_) {
      for (Instruction& instruction : block) {
        if (is_product(instruction)) products.push_back(&instruction);
      }
    }
    for (Instruction* product : products) {
      product->replaceAllUsesWith(made_of_words(*product));
    }
    for (Instruction* product : products) product->eraseFromParent();
  }

 private:
  Value* made_of_words(Instruction& product) {
    llvm::IRBuilder<> b(&product);
    Value *x = product.getOperand(0), *y = product.getOperand(1);
    const bool x_is_word = is_zero_extended(x), y_is_word = is_zero_extended(y);
    const bool is_unsigned = x_is_word && y_is_word;
    if (is_unsigned || (is_sign_extended(x) && is_sign_extended(y))) {
      return long_products(b, low_words(x), low_words(y), !is_unsigned);
    }
    x = settled(x), y = settled(y);
    const Words &low_x = shared_low_words(x), &low_y = shared_low_words(y);
    Words crossed;
    for (size_t i = 0; i < low_x.size(); ++i) {
      Value* sum = y_is_word ? nullptr : b.CreateMul(low_x[i], high_words(y)[i]);
      if (!x_is_word) {
        Value* other = b.CreateMul(high_words(x)[i], low_y[i]);
        sum = sum == nullptr ? other : b.CreateAdd(sum, other);
      }
      crossed.push_back(sum);
    }
    Value* high = b.CreateShl(b.CreateZExt(joined(b, crossed), x->getType()), kWordBits);
    return b.CreateAdd(high, long_products(b, low_x, low_y, false));
  }

  bool is_zero_extended(const Value* value) const {
    return llvm::computeKnownBits(value, layout_).countMinLeadingZeros() >= kWordBits;
  }
  bool is_sign_extended(const Value* value) const {
    return llvm::ComputeNumSignBits(value, layout_) > kWordBits;
  }

  /// The factor, whose words are of one value even if LLVM may choose it.
  Value* settled(Value* factor) {
    if (llvm::isGuaranteedNotToBeUndefOrPoison(factor)) return factor;
    Value*& result = settled_[factor];
    if (result != nullptr) return result;
    llvm::IRBuilder<> b(function_.getContext());
    set_insertion_point(b, factor);
    return result = b.CreateFreeze(factor);
  }

  /// The 64-bit products of words, a register for each two.
  static Value* long_products(llvm::IRBuilderBase& b, const Words& x, const Words& y,
                              bool is_signed) {
    Words registers;
    for (size_t i = 0; i < x.size(); ++i) {
      for (unsigned first = 0; first < lanes_of(x[i]); first += 2) {
        registers.push_back(instructions::word_products(b, part(b, x[i], first, 2),
                                                        part(b, y[i], first, 2), is_signed));
      }
    }
    return joined(b, registers);
  }

  static Value* joined(llvm::IRBuilderBase& b, const Words& parts) {
    return parts.size() == 1 ? parts[0] : llvm::concatenateVectors(b, parts);
  }

  const Words& low_words(Value* value) { return words(value, 0, &low_words_); }
  const Words& high_words(Value* value) { return words(value, kWordBits, &high_words_); }

  /// Low words that several instructions take. LLVM would narrow each register again for those that
  /// take half a vector of words, if it saw where that comes from.
  const Words& shared_low_words(Value* value) {
    Words& result = shared_low_words_[value];
    if (!result.empty()) return result;
    result = low_words(value);
    if (llvm::isa<llvm::Constant>(value)) return result;
    llvm::IRBuilder<> b(function_.getContext());
    set_insertion_point(b, llvm::cast<Instruction>(result.back()));
    for (Value*& word : result) word = instructions::opaque_vector(b, word);
    return result;
  }

  /// The words of the lanes from bit `shift` on. They are made where the value is, for all users.
  const Words& words(Value* value, unsigned shift, std::unordered_map<Value*, Words>* all) {
    Words& result = (*all)[value];
    if (!result.empty()) return result;
    llvm::IRBuilder<> b(function_.getContext());
    set_insertion_point(b, value);
    Value* shifted = shift == 0 ? value : b.CreateLShr(value, shift);
    const unsigned lanes = lanes_of(value);
    for (unsigned first = 0; first < lanes; first += kWords) {
      const unsigned count = std::min(lanes - first, kWords);
      auto* type = llvm::FixedVectorType::get(b.getInt32Ty(), count);
      result.push_back(b.CreateTrunc(part(b, shifted, first, count), type));
    }
    return result;
  }

  void set_insertion_point(llvm::IRBuilderBase& b, Value* value) {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (instruction == nullptr) {
      b.SetInsertPoint(&*function_.getEntryBlock().getFirstInsertionPt());
    } else if (llvm::isa<llvm::PHINode>(instruction)) {
      b.SetInsertPoint(&*instruction->getParent()->getFirstInsertionPt());
    } else {
      b.SetInsertPoint(instruction->getNextNode());
    }
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  std::unordered_map<Value*, Words> low_words_, high_words_, shared_low_words_;
  std::unordered_map<Value*, Value*> settled_;
};

}  // namespace

void make_word_products(llvm::Module& module, const llvm::TargetMachine& target) {
  if (!machine_of(target).has_word_products()) return;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) WordProducts(function).run();
  }
}

}  // namespace km::simt
