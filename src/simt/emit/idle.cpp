// Packets without work: between two barriers, what stands behind `if (threadIdx.x < n)` is all that
// is done, so that once a packet is beyond n, those that follow need not run at all.
#include <algorithm>

#include "simt/emit/emitter.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;

/// The lanes, of every packet that runs, that `block` sends where the work is; null: not known.
llvm::Constant* Emitter::working_lanes(BlockId block) {
  if (!idle_.workers() || idle_.workers()->branch != block) return nullptr;
  const uint32_t rest = idle_.workers()->threads % lanes_;
  if (rest != 0 && idle_.workers()->threads > lanes_) return nullptr;
  std::vector<llvm::Constant*> lanes;
  for (uint32_t lane = 0; lane < lanes_; ++lane) {
    lanes.push_back(llvm::ConstantInt::getBool(context_, rest == 0 || lane < rest));
  }
  return llvm::ConstantVector::get(lanes);
}

/// The packet that runs is the region's last one.
void Emitter::end_packets() {
  b_.CreateStore(b_.CreateSub(frame_.block_packets(), i32(1)), frame_.packet());
}

}  // namespace km::simt
