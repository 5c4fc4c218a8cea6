// Emits loops inside functions that lowering generates.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>

namespace km::simt {

/// for (offset = 0; offset < end; offset += step) body(offset), in 64 bits.
void emit_loop(llvm::IRBuilder<>& builder, llvm::Value* end, uint64_t step,
               const std::function<void(llvm::Value* offset)>& body);

void emit_if(llvm::IRBuilder<>& builder, llvm::Value* condition, const std::function<void()>& then,
             const std::function<void()>& otherwise);

/// for (left = bits; left; left &= left - 1) body(ctz(left)).
using LaneBody = std::function<void(llvm::IRBuilder<>&, llvm::Value* lane)>;
void emit_lane_loop(llvm::IRBuilder<>& builder, llvm::Value* bits, const LaneBody& body);

}  // namespace km::simt
