// Clusters of blocks. The shared memories of a cluster's blocks lie in one window, 2^n bytes apart
// in the order of their ranks, so that an address in another block's is an offset like any other.
#include "simt/emit/emitter.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

/// Maps an address to the corresponding place in the shared memory of the block with the given
/// rank.
void Emitter::lower_mapa(const Inst& inst) {
  if (inst.writes.empty()) return;
  const auto& ptx = *inst.ptx;
  const Type type = ptx.type();
  const bool lanes = !values_.results_are_scalar(inst);
  Value* address = values_.operand(inst, ptx.operands[1], type, lanes, false);
  Value* rank = values_.operand(inst, ptx.operands[2], Type::u32, lanes, false);
  auto wide = [&](Value* value) { return lanes ? splat(value) : value; };
  Value* distance = b_.CreateShl(b_.CreateSub(rank, wide(registers_.rank_in_cluster())),
                                 wide(registers_.cluster_bits()));
  // An address in another block is first taken back to this one.
  Value* below = b_.CreateSub(b_.CreateShl(i32(1), registers_.cluster_bits()), i32(1));
  Value* base = nullptr;
  if (type == Type::u64 && !ptx.has(Modifier::shared_cluster)) {
    base = wide(frame_.shared());
    address = b_.CreateSub(address, base);
  }
  if (ptx::size_bits(type) == 64) {
    distance = b_.CreateSExt(distance, address->getType());
    below = b_.CreateZExt(below, b_.getInt64Ty());
  }
  Value* mapped = b_.CreateAdd(b_.CreateAnd(address, wide(below)), distance);
  if (base != nullptr) mapped = b_.CreateAdd(mapped, base);
  values_.define_result(inst, inst.writes[0].first, mapped, type);
}

void Emitter::lower_getctarank(const Inst& inst) {
  if (inst.writes.empty()) return;
  const auto& ptx = *inst.ptx;
  const Type type = ptx.type();
  const bool lanes = !values_.results_are_scalar(inst);
  Value* address = values_.operand(inst, ptx.operands[1], type, lanes, false);
  auto wide = [&](Value* value) { return lanes ? splat(value) : value; };
  if (!ptx.has(Modifier::shared_cluster)) {
    address = b_.CreateSub(address, wide(frame_.shared()));
  }
  Value* bits = registers_.cluster_bits();
  if (ptx::size_bits(type) == 64) bits = b_.CreateZExt(bits, b_.getInt64Ty());
  Value* blocks = b_.CreateAShr(address, wide(bits));
  auto* word = lanes ? static_cast<llvm::Type*>(vector_of(b_.getInt32Ty())) : b_.getInt32Ty();
  blocks = b_.CreateTrunc(blocks, word);
  values_.define_result(inst, inst.writes[0].first,
                        b_.CreateAdd(blocks, wide(registers_.rank_in_cluster())), Type::u32);
}

}  // namespace km::simt
