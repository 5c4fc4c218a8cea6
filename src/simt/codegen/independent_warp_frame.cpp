#include "simt/codegen/independent_warp_frame.h"

namespace km::simt {

llvm::Value* IndependentWarpFrame::field(uint64_t offset) {
  return b_.CreateIntToPtr(b_.CreateAdd(warp_, b_.getInt64(offset)), b_.getPtrTy());
}

llvm::Value* IndependentWarpFrame::load(uint64_t offset, llvm::Type* type) {
  return b_.CreateAlignedLoad(type, field(offset), llvm::Align(4));
}

void IndependentWarpFrame::store(uint64_t offset, llvm::Value* content, llvm::Value* mask) {
  content = builder_.splat(content);
  llvm::Value* old = load(offset, content->getType());
  b_.CreateAlignedStore(b_.CreateSelect(mask, content, old), field(offset), llvm::Align(4));
}

}  // namespace km::simt
