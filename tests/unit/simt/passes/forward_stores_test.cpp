// Loads of parts of stored vectors: which come out of the register, and which must not.
#include "simt/passes/forward_stores.h"

#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>

namespace km::simt {
namespace {

/// A function void(i64 base, i64 other, <8 x float> content).
class Forward : public ::testing::Test {
 protected:
  Forward() : module_("test", context_), b_(context_) {
    auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                         {b_.getInt64Ty(), b_.getInt64Ty(), vector(8)}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", module_);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
  }
  llvm::Type* vector(unsigned count) { return llvm::FixedVectorType::get(b_.getFloatTy(), count); }
  llvm::Value* at(unsigned argument, int64_t offset) {
    llvm::Value* sum =
        b_.CreateAdd(function_->getArg(argument), b_.getInt64(static_cast<uint64_t>(offset)));
    return b_.CreateIntToPtr(sum, b_.getPtrTy());
  }
  llvm::StoreInst* store(unsigned argument, int64_t offset, unsigned count) {
    llvm::Value* content = function_->getArg(2);
    std::vector<int> indices;
    for (unsigned i = 0; i < count; ++i) indices.push_back(static_cast<int>(i));
    if (count != 8) content = b_.CreateShuffleVector(content, indices);
    return b_.CreateStore(content, at(argument, offset));
  }
  llvm::LoadInst* load(int64_t offset, llvm::Type* type) {
    auto* loaded = b_.CreateLoad(type, at(0, offset));
    b_.CreateStore(loaded, at(1, 1024))->setVolatile(true);  // so that it is of use
    return loaded;
  }
  /// How many loads are left.
  int run() {
    b_.CreateRetVoid();
    EXPECT_FALSE(llvm::verifyFunction(*function_, &llvm::errs()));
    llvm::FunctionAnalysisManager analyses;
    llvm::PassBuilder().registerFunctionAnalyses(analyses);
    ForwardStores().run(*function_, analyses);
    EXPECT_FALSE(llvm::verifyFunction(*function_, &llvm::errs()));
    int loads = 0;
    for (const llvm::Instruction& each : llvm::instructions(*function_)) {
      loads += llvm::isa<llvm::LoadInst>(each) ? 1 : 0;
    }
    return loads;
  }
  const llvm::ShuffleVectorInst* last_shuffle() const {
    const llvm::ShuffleVectorInst* last = nullptr;
    for (const llvm::Instruction& each : llvm::instructions(*function_)) {
      if (const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&each)) last = shuffle;
    }
    return last;
  }

  llvm::LLVMContext context_;
  llvm::Module module_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
};

TEST_F(Forward, PartsComeOutOfTheRegister) {
  store(0, 64, 8);
  load(64 + 8, vector(2));
  EXPECT_EQ(run(), 0);
  ASSERT_NE(last_shuffle(), nullptr);
  EXPECT_EQ(last_shuffle()->getShuffleMask(), (llvm::ArrayRef<int>{2, 3}));
}

TEST_F(Forward, OneElement) {
  store(0, 0, 8);
  load(28, b_.getFloatTy());
  EXPECT_EQ(run(), 0);
}

TEST_F(Forward, TheLastStoreCounts) {
  store(0, 0, 8);
  const llvm::StoreInst* last = store(0, 8, 2);
  load(8, b_.getFloatTy());
  EXPECT_EQ(run(), 0);
  const llvm::ExtractElementInst* picked = nullptr;
  for (const llvm::Instruction& each : llvm::instructions(*function_)) {
    if (const auto* pick = llvm::dyn_cast<llvm::ExtractElementInst>(&each)) picked = pick;
  }
  ASSERT_NE(picked, nullptr);
  EXPECT_EQ(picked->getVectorOperand(), last->getValueOperand());
}

TEST_F(Forward, NotWhatIsPartlyOverwritten) {
  store(0, 0, 8);
  store(0, 8, 2);
  load(4, vector(2));
  EXPECT_EQ(run(), 1);
}

TEST_F(Forward, NotWhatReachesBeyond) {
  store(0, 0, 8);
  load(28, vector(2));
  load(-4, vector(2));
  EXPECT_EQ(run(), 2);
}

TEST_F(Forward, NotBetweenElements) {
  store(0, 0, 8);
  load(2, vector(2));
  EXPECT_EQ(run(), 1);
}

TEST_F(Forward, NotBehindAnotherPointer) {
  store(0, 0, 8);
  store(1, 0, 2);
  load(0, vector(2));
  EXPECT_EQ(run(), 1);
}

TEST_F(Forward, NotOtherTypes) {
  store(0, 0, 8);
  load(0, b_.getInt32Ty());
  EXPECT_EQ(run(), 1);
}

TEST_F(Forward, MemoryOfTheEngineIsElsewhere) {
  llvm::MDBuilder builder(context_);
  auto* scope = builder.createAnonymousAliasScope(builder.createAnonymousAliasScopeDomain());
  store(0, 0, 8);
  store(1, 0, 2)->setMetadata(llvm::LLVMContext::MD_alias_scope,
                              llvm::MDNode::get(context_, {scope}));
  load(0, vector(4));
  EXPECT_EQ(run(), 0);
}

}  // namespace
}  // namespace km::simt
