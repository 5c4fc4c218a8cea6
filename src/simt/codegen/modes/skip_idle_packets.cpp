#include "simt/codegen/modes/skip_idle_packets.h"

#include <vector>

namespace km::simt {

llvm::Constant* SkipIdlePackets::working_lanes(BlockId block) {
  if (!workers() || workers()->branch != block) return nullptr;
  const uint32_t rest = workers()->threads % lanes_;
  if (rest != 0 && workers()->threads > lanes_) return nullptr;
  std::vector<llvm::Constant*> lanes;
  for (uint32_t lane = 0; lane < lanes_; ++lane) {
    lanes.push_back(llvm::ConstantInt::getBool(context_, rest == 0 || lane < rest));
  }
  return llvm::ConstantVector::get(lanes);
}

void SkipIdlePackets::end_packets() {
  b_.CreateStore(b_.CreateSub(frame_.block_packets(), i32(1)), frame_.packet());
}

}  // namespace km::simt
