#include "simt/arithmetic/reductions.h"

namespace km::simt::arithmetic {

llvm::Value* plain_operation(llvm::IRBuilder<>& b, Op op, llvm::Value* old, llvm::Value* value) {
  switch (op) {
    case Op::Add:
      return b.CreateAdd(old, value);
    case Op::And:
      return b.CreateAnd(old, value);
    case Op::Or:
      return b.CreateOr(old, value);
    case Op::Xor:
      return b.CreateXor(old, value);
    case Op::Min:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, old, value);
    case Op::Max:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, old, value);
    case Op::UMin:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, old, value);
    case Op::UMax:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, old, value);
    case Op::UIncWrap: {
      llvm::Value* next = b.CreateAdd(old, llvm::ConstantInt::get(old->getType(), 1));
      llvm::Value* zero = llvm::ConstantInt::get(old->getType(), 0);
      return b.CreateSelect(b.CreateICmpUGE(old, value), zero, next);
    }
    case Op::UDecWrap: {
      llvm::Value* zero = llvm::ConstantInt::get(old->getType(), 0);
      llvm::Value* next = b.CreateSub(old, llvm::ConstantInt::get(old->getType(), 1));
      llvm::Value* wraps = b.CreateOr(b.CreateICmpEQ(old, zero), b.CreateICmpUGT(old, value));
      return b.CreateSelect(wraps, value, next);
    }
    default:
      return value;
  }
}

}  // namespace km::simt::arithmetic
