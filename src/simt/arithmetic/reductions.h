// The new value that an atomic operation makes of the old one.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace km::simt::arithmetic {

using Op = llvm::AtomicRMWInst::BinOp;

/// For integers.
llvm::Value* plain_operation(llvm::IRBuilder<>& b, Op op, llvm::Value* old, llvm::Value* value);

}  // namespace km::simt::arithmetic
