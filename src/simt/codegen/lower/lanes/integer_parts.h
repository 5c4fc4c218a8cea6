// Splitting integers into narrower ones and joining them again, for scalars and vectors.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <span>
#include <vector>

namespace km::simt {

/// The parts of `bits` bits each, lowest first.
std::vector<llvm::Value*> parts_of(llvm::IRBuilder<>& b, llvm::Value* whole, unsigned bits);
/// The integer of `bits` bits with these parts, lowest first.
llvm::Value* joined(llvm::IRBuilder<>& b, std::span<llvm::Value* const> parts, unsigned bits);

}  // namespace km::simt
