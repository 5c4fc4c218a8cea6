// Sums of values whose NaNs have been given PTX's bits: which take them as they were before.
#include "simt/passes/bypass_nan_canonicalization.h"

#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>

namespace km::simt {
namespace {

/// A function void(<8 x float> made, <8 x float> other, ptr out).
class RawNans : public ::testing::Test {
 protected:
  RawNans() : module_("test", context_), b_(context_) {
    llvm::Type* vector = llvm::FixedVectorType::get(b_.getFloatTy(), 8);
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {vector, vector, b_.getPtrTy()}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", module_);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
    made_ = function_->getArg(0);
  }
  llvm::Value* nan() { return llvm::ConstantFP::getNaN(made_->getType()); }
  llvm::Value* zero() { return llvm::Constant::getNullValue(made_->getType()); }
  llvm::Value* with_nan() { return b_.CreateSelect(b_.CreateFCmpUNO(made_, zero()), nan(), made_); }
  llvm::Value* half(llvm::Value* value) { return b_.CreateShuffleVector(value, {4, 5, 6, 7}); }
  llvm::Instruction* add(llvm::Value* a, llvm::Value* b) {
    auto* sum = llvm::cast<llvm::Instruction>(b_.CreateFAdd(a, b));
    b_.CreateStore(sum, function_->getArg(2));
    return sum;
  }
  void run() {
    b_.CreateRetVoid();
    llvm::FunctionAnalysisManager analyses;
    llvm::PassBuilder().registerFunctionAnalyses(analyses);
    BypassNanCanonicalization().run(*function_, analyses);
    EXPECT_FALSE(llvm::verifyFunction(*function_, &llvm::errs()));
  }

  llvm::LLVMContext context_;
  llvm::Module module_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  llvm::Value* made_ = nullptr;
};

TEST_F(RawNans, ASumTakesTheValueAsItWas) {
  llvm::Value* stored = with_nan();
  auto* store = b_.CreateStore(stored, function_->getArg(2));
  const llvm::Instruction* sum = add(function_->getArg(1), stored);
  run();
  EXPECT_EQ(sum->getOperand(1), made_);
  EXPECT_EQ(store->getValueOperand(), stored);
}

TEST_F(RawNans, AndParts) {
  const llvm::Instruction* sum = add(half(with_nan()), half(function_->getArg(1)));
  run();
  const auto* part = llvm::dyn_cast<llvm::ShuffleVectorInst>(sum->getOperand(0));
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->getOperand(0), made_);
  EXPECT_EQ(part->getShuffleMask(), (llvm::ArrayRef<int>{4, 5, 6, 7}));
}

TEST_F(RawNans, OtherChoicesStay) {
  llvm::Value* choices[] = {
      b_.CreateSelect(b_.CreateFCmpUNO(made_, zero()), zero(), made_),
      b_.CreateSelect(b_.CreateFCmpORD(made_, zero()), nan(), made_),
      b_.CreateSelect(b_.CreateFCmpUNO(function_->getArg(1), zero()), nan(), made_),
      b_.CreateSelect(b_.CreateFCmpUNO(made_, function_->getArg(1)), nan(), made_),
      b_.CreateSelect(b_.CreateFCmpUNO(made_, zero()), nan(), function_->getArg(1)),
  };
  std::vector<llvm::Instruction*> sums;
  for (llvm::Value* each : choices) sums.push_back(add(each, each));
  run();
  for (size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i]->getOperand(0), choices[i]) << i;
}

TEST_F(RawNans, WhoLooksAtBitsSeesThoseOfPtx) {
  llvm::Value* value = with_nan();
  auto* bits = llvm::cast<llvm::Instruction>(
      b_.CreateBitCast(value, llvm::FixedVectorType::get(b_.getInt32Ty(), 8)));
  auto* negative = llvm::cast<llvm::Instruction>(b_.CreateFNeg(value));
  b_.CreateStore(bits, function_->getArg(2));
  b_.CreateStore(negative, function_->getArg(2));
  run();
  EXPECT_EQ(bits->getOperand(0), value);
  EXPECT_EQ(negative->getOperand(0), value);
}

}  // namespace
}  // namespace km::simt
