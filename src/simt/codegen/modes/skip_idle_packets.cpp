#include "simt/codegen/modes/skip_idle_packets.h"

#include <vector>

namespace km::simt {

llvm::Constant* SkipIdlePackets::working_lanes(BlockId block) {
  if (!workers() || workers()->branch != block) return nullptr;
  const uint32_t rest = workers()->threads % builder_.lanes();
  if (rest != 0 && workers()->threads > builder_.lanes()) return nullptr;
  std::vector<llvm::Constant*> lanes;
  for (uint32_t lane = 0; lane < builder_.lanes(); ++lane) {
    lanes.push_back(llvm::ConstantInt::getBool(builder_.context(), rest == 0 || lane < rest));
  }
  return llvm::ConstantVector::get(lanes);
}

void SkipIdlePackets::end_packets() {
  llvm::IRBuilder<>& b = builder_.ir();
  b.CreateStore(b.CreateSub(frame_.block_packets(), b.getInt32(1)), frame_.packet());
}

}  // namespace km::simt
