// Integers and the narrower integers that they consist of, one or one for each lane.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <span>
#include <vector>

namespace km::simt {

/// The parts of `bits` bits each, the lowest first.
std::vector<llvm::Value*> parts_of(llvm::IRBuilder<>& b, llvm::Value* whole, unsigned bits);
/// The integer of `bits` bits that consists of the parts, the lowest first.
llvm::Value* joined(llvm::IRBuilder<>& b, std::span<llvm::Value* const> parts, unsigned bits);

}  // namespace km::simt
