// Clusters of blocks. The shared memories of a cluster's blocks lie in one window, 2^n bytes apart
// in the order of their ranks, so that an address in another block's is an offset like any other.
#include "simt/emit/emitter.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

llvm::Value* Emitter::cluster_size(unsigned dimension) {
  return load_field(record_, offsetof(LaunchRecord, cluster) + 4 * uint64_t{dimension},
                    b_.getInt32Ty(), true);
}

llvm::Value* Emitter::cluster_blocks() {
  return b_.CreateMul(b_.CreateMul(cluster_size(0), cluster_size(1)), cluster_size(2));
}

llvm::Value* Emitter::cluster_bits() {
  return load_field(record_, offsetof(LaunchRecord, cluster_bits), b_.getInt32Ty(), true);
}

/// %cluster_ctarank: x fastest.
llvm::Value* Emitter::rank_in_cluster() {
  Value* rank = i32(0);
  for (unsigned d = 3; d-- > 0;) {
    Value* index = block_index(d);
    Value* size = cluster_size(d);
    rank = b_.CreateAdd(b_.CreateMul(rank, size), b_.CreateURem(index, size));
  }
  return rank;
}

llvm::Value* Emitter::cluster_register(const Operand& operand) {
  using Special = ptx::SpecialRegister;
  if (operand.special == Special::cluster_ctarank) return rank_in_cluster();
  if (operand.special == Special::cluster_nctarank) return cluster_blocks();
  const unsigned c = operand.component;
  if (c >= 3) return i32(0);
  Value* size = cluster_size(c);
  switch (operand.special) {
    case Special::clusterid:
      return b_.CreateUDiv(block_index(c), size);
    case Special::nclusterid: {
      const uint64_t grid = offsetof(LaunchRecord, grid) + 4 * uint64_t{c};
      return b_.CreateUDiv(load_field(record_, grid, b_.getInt32Ty(), true), size);
    }
    case Special::cluster_ctaid:
      return b_.CreateURem(block_index(c), size);
    default:  // cluster_nctaid
      return size;
  }
}

/// Maps an address to the corresponding place in the shared memory of the block with the given
/// rank.
void Emitter::lower_mapa(const Inst& inst) {
  if (inst.writes.empty()) return;
  const auto& ptx = *inst.ptx;
  const Type type = ptx.type();
  const bool lanes = !results_are_scalar(inst);
  Value* address = operand(inst, ptx.operands[1], type, lanes, false);
  Value* rank = operand(inst, ptx.operands[2], Type::u32, lanes, false);
  auto wide = [&](Value* value) { return lanes ? splat(value) : value; };
  Value* distance = b_.CreateShl(b_.CreateSub(rank, wide(rank_in_cluster())), wide(cluster_bits()));
  // An address in another block is first taken back to this one.
  Value* below = b_.CreateSub(b_.CreateShl(i32(1), cluster_bits()), i32(1));
  Value* base = nullptr;
  if (type == Type::u64 && !ptx.has(Modifier::shared_cluster)) {
    base = wide(shared_);
    address = b_.CreateSub(address, base);
  }
  if (ptx::size_bits(type) == 64) {
    distance = b_.CreateSExt(distance, address->getType());
    below = b_.CreateZExt(below, b_.getInt64Ty());
  }
  Value* mapped = b_.CreateAdd(b_.CreateAnd(address, wide(below)), distance);
  if (base != nullptr) mapped = b_.CreateAdd(mapped, base);
  define_result(inst, inst.writes[0].first, mapped, type);
}

void Emitter::lower_getctarank(const Inst& inst) {
  if (inst.writes.empty()) return;
  const auto& ptx = *inst.ptx;
  const Type type = ptx.type();
  const bool lanes = !results_are_scalar(inst);
  Value* address = operand(inst, ptx.operands[1], type, lanes, false);
  auto wide = [&](Value* value) { return lanes ? splat(value) : value; };
  if (!ptx.has(Modifier::shared_cluster)) {
    address = b_.CreateSub(address, wide(shared_));
  }
  Value* bits = cluster_bits();
  if (ptx::size_bits(type) == 64) bits = b_.CreateZExt(bits, b_.getInt64Ty());
  Value* blocks = b_.CreateAShr(address, wide(bits));
  auto* word = lanes ? static_cast<llvm::Type*>(vector_of(b_.getInt32Ty())) : b_.getInt32Ty();
  blocks = b_.CreateTrunc(blocks, word);
  define_result(inst, inst.writes[0].first, b_.CreateAdd(blocks, wide(rank_in_cluster())),
                Type::u32);
}

/// True if a generic address lies in the window, from the shared memory of the cluster's first
/// block on.
llvm::Value* Emitter::is_cluster_address(Value* address) {
  auto* wide = b_.getInt64Ty();
  Value* below =
      b_.CreateShl(b_.CreateZExt(rank_in_cluster(), wide), b_.CreateZExt(cluster_bits(), wide));
  return is_in_window(address, b_.CreateSub(shared_, below));
}

/// is_cluster_address(), if shared memory of other blocks may be used at all; else the test for the
/// block's own.
llvm::Value* Emitter::is_shared_address(Value* address) {
  if (meets_cluster(*kernel_.function)) return is_cluster_address(address);
  return is_in_window(address, shared_);
}

}  // namespace km::simt
