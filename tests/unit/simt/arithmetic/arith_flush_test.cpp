// .ftz costs four instructions: what is flushed already must not pay again, and nothing else may be
// taken for it.
#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "simt/arithmetic/lanes.h"
#include "support/simt/machines.h"

namespace km::simt::arithmetic {
namespace {

class Flush : public ::testing::Test {
 protected:
  Flush()
      : module_("flush", context_),
        builder_(context_),
        lanes_(builder_, testing::machine_named("avx2"), 32) {
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {lanes_.f32(), lanes_.f32()}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "f", module_);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "", function));
    a_ = function->getArg(0);
    b_ = function->getArg(1);
  }

  llvm::LLVMContext context_;
  llvm::Module module_;
  llvm::IRBuilder<> builder_;
  Lanes lanes_;
  V a_ = nullptr, b_ = nullptr;
};

TEST_F(Flush, IsDoneOnce) {
  V flushed = lanes_.flush(a_);
  EXPECT_NE(flushed, a_);
  EXPECT_EQ(lanes_.flush(flushed), flushed);
  V negated = builder_.CreateFNeg(flushed), magnitude = lanes_.fabs(negated);
  EXPECT_EQ(lanes_.flush(negated), negated);
  EXPECT_EQ(lanes_.flush(magnitude), magnitude);
  V less = builder_.CreateFCmpOLT(flushed, negated);
  V chosen = builder_.CreateSelect(less, flushed, negated);
  EXPECT_EQ(lanes_.flush(chosen), chosen);
}

TEST_F(Flush, IsNotLeftOut) {
  V flushed = lanes_.flush(a_), other = lanes_.flush(b_);
  V sum = builder_.CreateFAdd(flushed, other), product = builder_.CreateFMul(flushed, other);
  EXPECT_NE(lanes_.flush(sum), sum);
  EXPECT_NE(lanes_.flush(product), product);
  V half = builder_.CreateSelect(builder_.CreateFCmpOLT(a_, b_), flushed, b_);
  EXPECT_NE(lanes_.flush(half), half);
  // The same masks, but of another value.
  V exponent = builder_.CreateAnd(lanes_.bits(a_), lanes_.constant(32, 0x7f800000));
  V zero = builder_.CreateICmpEQ(exponent, lanes_.constant(32, 0));
  V cleared = builder_.CreateLShr(lanes_.sext(zero, 32), lanes_.constant(32, 1));
  V mixed = lanes_.as_real(builder_.CreateAnd(lanes_.bits(b_), builder_.CreateNot(cleared)));
  EXPECT_NE(lanes_.flush(mixed), mixed);
}

TEST_F(Flush, FoldsConstants) {
  EXPECT_EQ(Lanes::known(lanes_.flush(lanes_.real32(0x1p-130f))), 0u);
  EXPECT_EQ(Lanes::known(lanes_.flush(lanes_.real32(-0x1p-130f))), 0x80000000u);
  EXPECT_EQ(Lanes::known(lanes_.flush(lanes_.real32(1.5f))), 0x3fc00000u);
}

TEST_F(Flush, SaturatedNumbersAreSeen) {
  V saturated = lanes_.saturate(a_);
  EXPECT_TRUE(Lanes::is_saturated(saturated));
  EXPECT_TRUE(Lanes::is_saturated(lanes_.flush(saturated)));
  EXPECT_FALSE(Lanes::is_saturated(a_));
  EXPECT_FALSE(Lanes::is_saturated(lanes_.flush(a_)));
  V one = lanes_.real32(1.0f);
  V from_above = lanes_.select(builder_.CreateFCmpOLT(a_, one), a_, one);
  EXPECT_FALSE(Lanes::is_saturated(from_above));
  EXPECT_FALSE(Lanes::is_saturated(lanes_.fabs(saturated)));
}

TEST_F(Flush, NumbersNeedNoCanonicalNan) {
  V sum = builder_.CreateFAdd(a_, b_);
  EXPECT_NE(lanes_.canonical_nan(sum), sum);
  Lanes::number(sum);
  EXPECT_EQ(lanes_.canonical_nan(sum), sum);
  V back = lanes_.as_real(lanes_.bits(sum));
  EXPECT_EQ(lanes_.canonical_nan(back), back);
  V product = builder_.CreateFMul(sum, b_);
  EXPECT_NE(lanes_.canonical_nan(product), product);
}

TEST_F(Flush, LeavesF64Alone) {
  V wide = lanes_.to_f64(a_);
  EXPECT_EQ(lanes_.flush(wide), wide);
}

}  // namespace
}  // namespace km::simt::arithmetic
