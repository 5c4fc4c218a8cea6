// Asking for memory before it is needed, where processors do not see by themselves what comes next.
#include "simt/emit/emitter.h"

namespace km::simt {

using ptx::Opcode;
using ptx::Operand;

void Emitter::prefetch(const Inst& inst, const Address& address, const Access& access) {
  const bool global = address.space == ptx::Space::global || address.space == ptx::Space::generic;
  if (!global || access.is_volatile || address.offsets == nullptr) return;
  const std::optional<int64_t> elements = wide_span(address, access);
  if (!elements) return;
  const uint64_t size = static_cast<uint64_t>(*elements) * ptx::size_bytes(access.type);
  prefetch_next_block(address, size);
  prefetch_next_packet(inst, address, size);
}

/// Into the second cache, which has more misses under way than the first.
void Emitter::prefetch_lines(Value* first, uint64_t size_bytes) {
  for (uint64_t line = 0; line < size_bytes; line += 64) {
    Value* at = b_.CreateIntToPtr(b_.CreateAdd(first, i64(line)), b_.getPtrTy());
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()}, {at, i32(0), i32(2), i32(1)});
  }
}

/// Two words that stay from a block to the next. In kernels whose blocks get a call each that is
/// in scratch memory, which may hold anything before the first one; null: all have been given away.
llvm::Value* Emitter::progress_place() {
  constexpr uint64_t kSize = 2 * sizeof(uint64_t);
  if (!plan_.waits) return variable(llvm::ArrayType::get(b_.getInt64Ty(), 2), "progress");
  if (progress_used_bytes_ + kSize > kProgressBytes) return nullptr;
  const uint64_t offset = progress_offset_bytes_ + progress_used_bytes_;
  progress_used_bytes_ += kSize;
  return b_.CreateIntToPtr(b_.CreateAdd(scratch_, i64(offset)), b_.getPtrTy());
}

/// Between barriers a processor works on what it has loaded, and does not see the loads of the next
/// block coming: those of the fourth from here are asked for, if the bases move on as they did from
/// the last block to this.
void Emitter::prefetch_next_block(const Address& address, uint64_t size_bytes) {
  const bool once = plan_.shapes->loops.innermost[block_] == UINT32_MAX;
  if (!has_phases() || !once) return;
  Value* last = progress_place();
  if (last == nullptr) return;
  Value* ahead = b_.CreateConstGEP1_64(b_.getInt64Ty(), last, 1);
  Value* first = b_.CreateICmpEQ(b_.CreateLoad(b_.getInt32Ty(), packet_), i32(0));
  branch_unlikely(first, [&] {
    Value* before = b_.CreateLoad(b_.getInt64Ty(), last);
    b_.CreateStore(b_.CreateSub(address.base, before), ahead);
    b_.CreateStore(address.base, last);
  });
  Value* distance = b_.CreateLoad(b_.getInt64Ty(), ahead);
  Value* next = b_.CreateAdd(address.base, b_.CreateMul(distance, i64(4)));
  prefetch_lines(next, size_bytes);
}

/// A loop that strides over an array by the grid's size leaves one place in memory for another in
/// every round. What is asked for is what the next packet reads there, which lies beside.
void Emitter::prefetch_next_packet(const Inst& inst, const Address& address, uint64_t size_bytes) {
  const uint32_t loop = plan_.shapes->loops.innermost[block_];
  const Operand& source = inst.ptx->operands[1];
  if (loop == UINT32_MAX || source.reg == ptx::kNone) return;
  if (advance_of(inst.read(source.reg), loop, 64) != Advance::unknown_distance) return;
  prefetch_lines(b_.CreateAdd(address.base, i64(size_bytes)), size_bytes);
}

/// How far an address goes from one round of `loop` to the next.
Emitter::Advance Emitter::advance_of(ValueId value, uint32_t loop, unsigned depth) {
  const auto& info = kernel_.values[value];
  if (info.block == kNone || !plan_.shapes->loops.contains(loop, info.block)) return Advance::none;
  if (const auto known = advances_.find({value, loop}); known != advances_.end()) {
    return known->second;
  }
  if (depth == 0) return Advance::other;
  if (info.instruction == kNone) return advance_of_phi(value, loop);
  const Inst& inst = kernel_.blocks[info.block].insts[info.instruction];
  switch (inst.ptx->opcode) {
    case Opcode::mov:
    case Opcode::cvt:
    case Opcode::cvta:
    case Opcode::add:
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::shl:
      break;
    default:
      return Advance::other;
  }
  Advance result = Advance::none;
  for (const auto& read : inst.reads) {
    result = std::max(result, advance_of(read.second, loop, depth - 1));
  }
  advances_[{value, loop}] = result;
  return result;
}

Emitter::Advance Emitter::advance_of_phi(ValueId value, uint32_t loop) const {
  const BlockId header = kernel_.values[value].block;
  const Block& block = kernel_.blocks[header];
  if (header != plan_.shapes->loops.loops[loop].header) return Advance::other;
  for (const Phi& phi : block.phis) {
    if (phi.result != value) continue;
    for (size_t i = 0; i < phi.inputs.size(); ++i) {
      if (!plan_.shapes->loops.contains(loop, block.preds[i])) continue;
      const auto& next = kernel_.values[phi.inputs[i]];
      if (next.block == kNone || next.instruction == kNone) return Advance::other;
      const Inst& step = kernel_.blocks[next.block].insts[next.instruction];
      if (step.ptx->opcode != Opcode::add || step.reads.size() != 2) return Advance::other;
      const ValueId by = step.reads[step.reads[0].second == value ? 1 : 0].second;
      const Shape& distance = plan_.shapes->values[by];
      if (!distance.is_uniform() || distance.constant()) return Advance::other;
    }
  }
  return Advance::unknown_distance;
}

}  // namespace km::simt
