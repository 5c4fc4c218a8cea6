#include "simt/codegen/lower/address_spaces.h"

#include "simt/analysis/memory/memory_access.h"
#include "simt/codegen/parameter_addresses.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Type;

void AddressSpaces::lower(const Inst& inst) {
  switch (inst.ptx->opcode) {
    case Opcode::cvta:
      return lower_cvta(inst);
    case Opcode::isspacep:
      return lower_isspacep(inst);
    case Opcode::mapa:
      return lower_mapa(inst);
    default:
      return lower_getctarank(inst);
  }
}

void AddressSpaces::lower_isspacep(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const bool lanes = !values_.results_are_scalar(inst);
  Value* address = values_.operand(inst, ptx.operands[1], Type::u64, lanes, false);
  auto wide = [&](Value* value) { return lanes ? splat(value) : value; };
  auto within = [&](Value* base, Value* size) {
    return b_.CreateICmpULT(b_.CreateSub(address, wide(base)), wide(size));
  };
  Value* shared = registers_.is_in_window(address, frame_.shared());
  const uint64_t local_bytes = frame_.scratch_bytes() - frame_.local_offset_bytes();
  Value* local =
      within(b_.CreateAdd(frame_.scratch(), i64(frame_.local_offset_bytes())), i64(local_bytes));
  Value* result = nullptr;
  if (ptx.has(Modifier::shared_cluster)) {
    result = registers_.is_cluster_address(address);
  } else if (ptx.has(Modifier::shared) || ptx.has(Modifier::shared_cta)) {
    result = shared;
  } else if (ptx.has(Modifier::local)) {
    result = local;
  } else if (ptx.has(Modifier::global)) {
    result = b_.CreateNot(b_.CreateOr(registers_.is_shared_address(address), local));
  } else {
    result = wide(b_.getFalse());
  }
  values_.define_result(inst, ptx.operands[0].reg, result, Type::pred);
}

/// Lowers cvta. Shared addresses change, because they are offsets, and parameters' addresses of
/// which only 32 bits are known; addresses in the other spaces are host addresses already.
void AddressSpaces::lower_cvta(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const bool lanes = !values_.results_are_scalar(inst);
  Value* content = values_.operand(inst, ptx.operands[1], Type::u64, lanes, false);
  bool shared = ptx.has(Modifier::shared) || ptx.has(Modifier::shared_cta) ||
                ptx.has(Modifier::shared_cluster);
  if (shared) {
    Value* base = lanes ? splat(frame_.shared()) : frame_.shared();
    content = ptx.has(Modifier::to) ? b_.CreateSub(content, base) : b_.CreateAdd(content, base);
  }
  if (completes_parameter_address(kernel_, inst)) {
    content = whole_parameter_address(b_, frame_.params(), content);
  }
  values_.define_result(inst, ptx.operands[0].reg, content, Type::u64);
}

/// Lowers mapa, which maps an address to the same place in the shared memory of the block with a
/// given rank.
void AddressSpaces::lower_mapa(const Inst& inst) {
  if (inst.writes.empty()) return;
  const auto& ptx = *inst.ptx;
  const Type type = ptx.type();
  const bool lanes = !values_.results_are_scalar(inst);
  Value* address = values_.operand(inst, ptx.operands[1], type, lanes, false);
  Value* rank = values_.operand(inst, ptx.operands[2], Type::u32, lanes, false);
  auto wide = [&](Value* value) { return lanes ? splat(value) : value; };
  Value* distance = b_.CreateShl(b_.CreateSub(rank, wide(registers_.rank_in_cluster())),
                                 wide(registers_.cluster_bits()));
  // The low bits are the offset in a block's own shared memory; the other bits could name another
  // block.
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

void AddressSpaces::lower_getctarank(const Inst& inst) {
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
