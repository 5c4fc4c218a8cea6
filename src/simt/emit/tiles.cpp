// Short regions between barriers: several packets at a time, woven into each other where no access
// can fault.
#include <algorithm>

#include "simt/emit/emitter.h"
#include "simt/emit/weave.h"

namespace km::simt {

llvm::MDNode* Emitter::row_hint(uint32_t packets) {
  auto* name = llvm::MDString::get(context_, "llvm.loop.unroll.count");
  auto* count = llvm::ConstantAsMetadata::get(b_.getInt32(packets));
  llvm::Metadata* unroll = llvm::MDNode::get(context_, {name, count});
  auto* hint = llvm::MDNode::getDistinct(context_, {nullptr, unroll});
  hint->replaceOperandWith(0, hint);
  return hint;
}

/// The arithmetic in all blocks behind `before`, for WeavePackets.
void Emitter::mark_woven(llvm::BasicBlock* before) {
  auto* mark = llvm::MDNode::get(context_, {});
  for (auto block = std::next(before->getIterator()); block != builder_.entry()->end(); ++block) {
    for (llvm::Instruction& each : *block) {
      if (is_woven_arithmetic(each)) each.setMetadata(kWovenMetadata, mark);
    }
  }
}

}  // namespace km::simt
