// Reductions in a row: which become one, and which must not.
#include "simt/passes/merge_shared_atomics.h"

#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

namespace km::simt {
namespace {

using Operation = llvm::AtomicRMWInst::BinOp;
constexpr uint64_t kBytes = 4096;  // of memory

/// A function void(ptr memory, <8 x i32> words, i32 content, i32 lanes, ptr state).
class Joined : public ::testing::Test {
 protected:
  Joined() : module_("test", context_), b_(context_) {
    words_ = llvm::FixedVectorType::get(b_.getInt32Ty(), 8);
    llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty(), *nothing = b_.getVoidTy();
    helper_ = llvm::Function::Create(
        llvm::FunctionType::get(nothing, {pointer, words_, word, word}, false),
        llvm::Function::ExternalLinkage, "helper", module_);
    function_ = llvm::Function::Create(
        llvm::FunctionType::get(nothing, {pointer, words_, word, word, pointer}, false),
        llvm::Function::ExternalLinkage, "f", module_);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
  }
  llvm::Value* number(uint32_t value) { return llvm::ConstantInt::get(words_, value); }
  /// Of byte `index` of each word, times 4.
  llvm::Value* byte(unsigned index) {
    llvm::Value* words = function_->getArg(1);
    llvm::Value* moved =
        index == 0 ? b_.CreateShl(words, number(2)) : b_.CreateLShr(words, number(8 * index - 2));
    return b_.CreateAnd(moved, number(1020));
  }
  void reduce(llvm::Value* offsets, Operation operation = Operation::Add,
              llvm::Value* content = nullptr) {
    if (content == nullptr) content = function_->getArg(2);
    llvm::CallInst* call =
        b_.CreateCall(helper_, {function_->getArg(0), offsets, content, function_->getArg(3)});
    mark_reduction(*call, operation, kBytes);
  }
  void note_line(uint32_t line) {
    llvm::StoreInst* note = b_.CreateStore(b_.getInt32(line), function_->getArg(4));
    note->setMetadata(kLineMetadata, llvm::MDNode::get(context_, {}));
  }
  /// How many reductions are left, joined ones included.
  int run() {
    b_.CreateRetVoid();
    merge_shared_atomics(module_);
    EXPECT_FALSE(llvm::verifyModule(module_, &llvm::errs()));
    int calls = 0;
    for (const llvm::Instruction& each : llvm::instructions(*function_)) {
      calls += llvm::isa<llvm::CallInst>(each) ? 1 : 0;
    }
    return calls;
  }

  llvm::LLVMContext context_;
  llvm::Module module_;
  llvm::IRBuilder<> b_;
  llvm::FixedVectorType* words_ = nullptr;
  llvm::Function *helper_ = nullptr, *function_ = nullptr;
};

TEST_F(Joined, BytesOfAWord) {
  for (unsigned i = 0; i < 4; ++i) {
    note_line(i);
    reduce(byte(i));
  }
  EXPECT_EQ(run(), 1);
}

TEST_F(Joined, OtherStoresStayInBetween) {
  reduce(byte(0));
  b_.CreateStore(b_.getInt32(7), function_->getArg(4));
  reduce(byte(1));
  EXPECT_EQ(run(), 2);
}

TEST_F(Joined, OneAloneStays) {
  reduce(byte(0));
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(helper_->getNumUses(), 1u);
}

TEST_F(Joined, OffsetsThatAreTheSource) {
  llvm::Value* offsets = byte(1);
  reduce(b_.CreateAdd(offsets, number(1024)));
  reduce(offsets);
  reduce(b_.CreateSub(number(2044), offsets));
  EXPECT_EQ(run(), 1);
}

TEST_F(Joined, NoMoreThanEight) {
  for (unsigned i = 0; i < 12; ++i) reduce(byte(i % 4));
  EXPECT_EQ(run(), 2);
}

TEST_F(Joined, OtherOperationsStayInOrder) {
  reduce(byte(0));
  reduce(byte(1), Operation::UMax);
  reduce(byte(2));
  EXPECT_EQ(run(), 3);
}

TEST_F(Joined, OtherContents) {
  reduce(byte(0));
  reduce(byte(1), Operation::Add, b_.getInt32(3));
  EXPECT_EQ(run(), 2);
}

TEST_F(Joined, WhatMayFaultKeepsItsLine) {
  reduce(byte(0));
  reduce(b_.CreateAnd(function_->getArg(1), number(8188)));
  reduce(b_.CreateAdd(byte(1), number(kBytes - 1020)));  // one word too far
  EXPECT_EQ(run(), 3);
}

TEST_F(Joined, TheLastWordDoesNotFault) {
  reduce(byte(0));
  reduce(b_.CreateAdd(byte(1), number(kBytes - 1024)));
  EXPECT_EQ(run(), 1);
}

TEST_F(Joined, MemoryInBetweenSeesWhatCameBefore) {
  reduce(byte(0));
  llvm::Value* seen = b_.CreateLoad(b_.getInt32Ty(), function_->getArg(0));
  reduce(byte(1));
  b_.CreateStore(seen, function_->getArg(4));
  reduce(byte(2));
  EXPECT_EQ(run(), 3);
}

TEST_F(Joined, TooManySteps) {
  llvm::Value* offsets = function_->getArg(1);
  for (uint32_t i = 0; i < 4; ++i) {
    offsets = b_.CreateXor(b_.CreateMul(offsets, number(5 + i)), number(7));
  }
  reduce(byte(0));
  reduce(b_.CreateAnd(offsets, number(1020)));
  EXPECT_EQ(run(), 2);
}

}  // namespace
}  // namespace km::simt
