// LaneOffsets, which extracts 32-bit elements from a vector as 64-bit scalars.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace km::simt {

/// A vector of 32-bit offsets or indices. The number of lanes is even or one.
class LaneOffsets {
 public:
  explicit LaneOffsets(llvm::Value* lanes) : lanes_(lanes) {}

  /// The element of a lane, sign-extended. Elements are extracted in pairs, because extracting
  /// costs more than separating two halves of a 64-bit register. All calls must be in one basic
  /// block, which shares the vector of pairs.
  llvm::Value* at(llvm::IRBuilder<>& b, uint32_t lane);

 private:
  llvm::Value* lanes_;
  llvm::Value* pairs_ = nullptr;
};

}  // namespace km::simt
