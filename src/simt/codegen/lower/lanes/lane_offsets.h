// The 32-bit numbers of a helper's lanes, each taken out of its vector as 64 bits.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace km::simt {

/// A vector of 32-bit offsets or indices with an even number of lanes, or one.
class LaneOffsets {
 public:
  explicit LaneOffsets(llvm::Value* lanes) : lanes_(lanes) {}

  /// The number of a lane; two of them leave the vector at a time. All calls build in one block.
  llvm::Value* at(llvm::IRBuilder<>& b, uint32_t lane);

 private:
  llvm::Value* lanes_;
  llvm::Value* pairs_ = nullptr;
};

}  // namespace km::simt
