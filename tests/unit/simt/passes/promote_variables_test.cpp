// Variables that become values: which do, and that what is read stays the same.
#include "simt/passes/promote_variables.h"

#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>

namespace km::simt {
namespace {

/// A function i32(i1 a, i1 b, i32 x) with one variable, which is zero at first.
class Promote : public ::testing::Test {
 protected:
  Promote() : module_("test", context_), b_(context_) {
    auto* type = llvm::FunctionType::get(b_.getInt32Ty(),
                                         {b_.getInt1Ty(), b_.getInt1Ty(), b_.getInt32Ty()}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", module_);
    entry_ = block("entry");
    b_.SetInsertPoint(entry_);
    variable_ = b_.CreateAlloca(b_.getInt32Ty());
    b_.CreateStore(b_.getInt32(0), variable_);
  }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(context_, name, function_);
  }
  llvm::Value* a() { return function_->getArg(0); }
  llvm::Value* b() { return function_->getArg(1); }
  llvm::Value* x() { return function_->getArg(2); }
  llvm::Value* load() { return b_.CreateLoad(b_.getInt32Ty(), variable_); }

  void run() {
    ASSERT_FALSE(llvm::verifyFunction(*function_, &llvm::errs()));
    llvm::FunctionAnalysisManager analyses;
    llvm::PassBuilder().registerFunctionAnalyses(analyses);
    PromoteVariables().run(*function_, analyses);
    ASSERT_FALSE(llvm::verifyFunction(*function_, &llvm::errs()));
  }
  template <class T>
  int count() const {
    int found = 0;
    for (const llvm::Instruction& each : llvm::instructions(*function_)) {
      found += llvm::isa<T>(each) ? 1 : 0;
    }
    return found;
  }

  llvm::LLVMContext context_;
  llvm::Module module_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  llvm::AllocaInst* variable_ = nullptr;
};

TEST_F(Promote, ASkippedStoreLeavesZero) {
  auto *set = block("set"), *end = block("end");
  b_.CreateCondBr(a(), set, end);
  b_.SetInsertPoint(set);
  b_.CreateStore(x(), variable_);
  b_.CreateBr(end);
  b_.SetInsertPoint(end);
  auto* result = b_.CreateRet(load());
  run();
  EXPECT_EQ(count<llvm::AllocaInst>() + count<llvm::LoadInst>() + count<llvm::StoreInst>(), 0);
  auto* phi = llvm::dyn_cast<llvm::PHINode>(result->getReturnValue());
  ASSERT_NE(phi, nullptr);
  EXPECT_EQ(phi->getIncomingValueForBlock(set), x());
  EXPECT_EQ(phi->getIncomingValueForBlock(entry_), b_.getInt32(0));
}

/// What an iteration stored the next one reads: the zero comes before the loop, not in it.
TEST_F(Promote, LoopsKeepWhatTheyStored) {
  auto *loop = block("loop"), *end = block("end");
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* sum = b_.CreateAdd(load(), x());
  b_.CreateStore(sum, variable_);
  b_.CreateCondBr(a(), loop, end);
  b_.SetInsertPoint(end);
  auto* result = b_.CreateRet(load());
  run();
  EXPECT_EQ(count<llvm::AllocaInst>(), 0);
  EXPECT_EQ(result->getReturnValue(), sum);
  auto* phi = llvm::dyn_cast<llvm::PHINode>(llvm::cast<llvm::Instruction>(sum)->getOperand(0));
  ASSERT_NE(phi, nullptr);
  EXPECT_EQ(phi->getIncomingValueForBlock(entry_), b_.getInt32(0));
  EXPECT_EQ(phi->getIncomingValueForBlock(loop), sum);
}

TEST_F(Promote, CyclesThatAreNoLoopsStay) {
  auto *left = block("left"), *right = block("right"), *end = block("end");
  b_.CreateCondBr(a(), left, right);
  b_.SetInsertPoint(left);
  b_.CreateStore(b_.CreateAdd(load(), x()), variable_);
  b_.CreateCondBr(b(), right, end);
  b_.SetInsertPoint(right);
  b_.CreateBr(left);
  b_.SetInsertPoint(end);
  b_.CreateRet(load());
  run();
  EXPECT_EQ(count<llvm::AllocaInst>(), 1);
}

TEST_F(Promote, VariablesWithAnAddressStay) {
  auto* address = b_.CreatePtrToInt(variable_, b_.getInt32Ty());
  b_.CreateRet(b_.CreateAdd(load(), address));
  run();
  EXPECT_EQ(count<llvm::AllocaInst>(), 1);
  EXPECT_EQ(count<llvm::StoreInst>(), 1);
}

TEST_F(Promote, VariablesWithoutAFirstStoreStay) {
  auto* other = b_.CreateAlloca(b_.getInt32Ty());
  b_.CreateRet(b_.CreateLoad(b_.getInt32Ty(), other));
  run();
  EXPECT_EQ(count<llvm::LoadInst>(), 1);
}

}  // namespace
}  // namespace km::simt
