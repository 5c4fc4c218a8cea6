// The operations of atomics: a new value from the old one and the operand.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace km::simt::arithmetic {

using Op = llvm::AtomicRMWInst::BinOp;

/// The operation on integers.
llvm::Value* plain_operation(llvm::IRBuilder<>& b, Op op, llvm::Value* old, llvm::Value* value);

}  // namespace km::simt::arithmetic
