#include "simt/codegen/lower/lanes/lane_offsets.h"

namespace km::simt {

llvm::Value* LaneOffsets::at(llvm::IRBuilder<>& b, uint32_t lane) {
  auto *word = b.getInt32Ty(), *pair = b.getInt64Ty();
  const uint32_t count = llvm::cast<llvm::FixedVectorType>(lanes_->getType())->getNumElements();
  if (count == 1) return b.CreateSExt(b.CreateExtractElement(lanes_, lane), pair);
  if (pairs_ == nullptr) {
    pairs_ = b.CreateBitCast(lanes_, llvm::FixedVectorType::get(pair, count / 2));
  }
  llvm::Value* both = b.CreateExtractElement(pairs_, lane / 2);
  return lane % 2 == 0 ? b.CreateSExt(b.CreateTrunc(both, word), pair) : b.CreateAShr(both, 32);
}

}  // namespace km::simt
