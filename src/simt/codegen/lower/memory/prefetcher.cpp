#include "simt/codegen/lower/memory/prefetcher.h"

#include <algorithm>
#include <cstdlib>

namespace km::simt {

using ptx::Opcode;
using ptx::Operand;

namespace {
constexpr int64_t kFarBlocks = 4;
}  // namespace

void Prefetcher::prefetch(const Inst& inst, const Address& address, const Access& access) {
  if (!is_global(address.space) || access.is_volatile || address.offsets == nullptr) return;
  const std::optional<int64_t> elements = wide_span(address, access, lanes_);
  if (!elements) return;
  const uint64_t size = static_cast<uint64_t>(*elements) * ptx::size_bytes(access.type);
  prefetch_next_block(inst, address, size);
  if (!prefetch_next_tile(inst, address, size)) prefetch_next_packet(inst, address, size);
}

void Prefetcher::begin_region() {
  alike_loads_.clear();
  loads_tile_ = false;
}

/// The second cache has more misses under way than the first.
void Prefetcher::prefetch_lines(Value* first, uint64_t size_bytes, CacheLevel level) {
  const unsigned locality = level == CacheLevel::first ? 3 : 2;
  for (uint64_t line = 0; line < size_bytes; line += 64) {
    Value* at = b_.CreateIntToPtr(b_.CreateAdd(first, i64(line)), b_.getPtrTy());
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                       {at, i32(0), i32(locality), i32(1)});
  }
}

/// Two words that stay from a block to the next. In kernels whose blocks get a call each that is
/// in scratch memory, which may hold anything before the first one; null: all have been given away.
llvm::Value* Prefetcher::progress_place() {
  constexpr uint64_t kSize = 2 * sizeof(uint64_t);
  if (!plan_.waits) return builder_.variable(llvm::ArrayType::get(b_.getInt64Ty(), 2), "progress");
  if (progress_used_bytes_ + kSize > SpillLayout::kProgressBytes) return nullptr;
  const uint64_t offset = code_plan_.spills.progress_offset_bytes() + progress_used_bytes_;
  progress_used_bytes_ += kSize;
  return b_.CreateIntToPtr(b_.CreateAdd(frame_.scratch(), i64(offset)), b_.getPtrTy());
}

/// How far the addresses of a load go from each block to the next; empty where it is not known.
std::optional<int64_t> Prefetcher::block_step(const Inst& inst) {
  if (!block_strides_) {
    block_strides_.emplace(kernel_, *plan_.shapes, ptx::SpecialRegister::ctaid, uint8_t{0});
  }
  const Operand& source = inst.ptx->operands[1];
  return source.reg == ptx::kNone ? 0 : block_strides_->of(inst.read(source.reg));
}

/// The loads of the region by the same address register, in their order.
const std::vector<const Inst*>& Prefetcher::loads_alike(const Inst& load) {
  if (alike_loads_.empty()) {
    for (BlockId b : plan_.regions.list[position_.region].blocks) {
      for (const Inst& inst : kernel_.blocks[b].insts) {
        const ptx::Opcode opcode = inst.ptx->opcode;
        const bool loads = opcode == Opcode::ld || opcode == Opcode::ldu;
        if (!loads || inst.ptx->operands[1].reg == ptx::kNone) continue;
        alike_loads_[{opcode, inst.read(inst.ptx->operands[1].reg)}].push_back(&inst);
      }
    }
  }
  return alike_loads_[{load.ptx->opcode, load.read(load.ptx->operands[1].reg)}];
}

/// Between barriers a processor works on what it has loaded, and does not see the loads of the next
/// block coming. Where blocks load long parts of memory that lie one behind the other, what lies 16
/// KiB from here is asked for, in the order in which it lies there: from memory that gives half as
/// much again as the order in which it is loaded. Else what the fourth block from here loads.
void Prefetcher::prefetch_next_block(const Inst& inst, const Address& address,
                                     uint64_t size_bytes) {
  constexpr int64_t kLongBytes = 1024, kAheadBytes = 16384, kAheadBlocks = 8;
  const bool once = plan_.shapes->loops.innermost[position_.block] == UINT32_MAX;
  if (!plan_.has_phases() || !once) return;
  const std::optional<int64_t> step = block_step(inst);
  if (!step || *step == 0) return prefetch_moving(address, size_bytes);
  if (*step < kLongBytes || inst.ptx->operands[1].reg == ptx::kNone) {
    Value* next = b_.CreateAdd(address.base, i64(static_cast<uint64_t>(scaled(*step, kFarBlocks))));
    return prefetch_lines(next, size_bytes, CacheLevel::second);
  }
  const int64_t blocks = std::clamp<int64_t>(kAheadBytes / *step, 1, kAheadBlocks);
  Value* next = b_.CreateAdd(address.base, i64(static_cast<uint64_t>(*step * blocks)));
  const std::vector<const Inst*>& alike = loads_alike(inst);
  const uint64_t together = size_bytes * alike.size();  // of a packet
  const uint64_t packets = plan_.variant.threads() / lanes_;
  if (together * packets == static_cast<uint64_t>(*step)) {
    if (alike.front() != &inst) return;
    Value* packet = b_.CreateZExt(b_.CreateLoad(b_.getInt32Ty(), frame_.packet()), b_.getInt64Ty());
    next = b_.CreateAdd(next, b_.CreateMul(packet, i64(together - size_bytes)));
    size_bytes = together;
  }
  prefetch_lines(next, size_bytes, CacheLevel::first);
}

/// Asks for the loads of the fourth block from here, if the bases move as they did from the last
/// block to this.
void Prefetcher::prefetch_moving(const Address& address, uint64_t size_bytes) {
  Value* last = progress_place();
  if (last == nullptr) return;
  Value* ahead = b_.CreateConstGEP1_64(b_.getInt64Ty(), last, 1);
  Value* first = b_.CreateICmpEQ(b_.CreateLoad(b_.getInt32Ty(), frame_.packet()), i32(0));
  builder_.branch_unlikely(first, [&] {
    Value* before = b_.CreateLoad(b_.getInt64Ty(), last);
    b_.CreateStore(b_.CreateSub(address.base, before), ahead);
    b_.CreateStore(address.base, last);
  });
  Value* distance = b_.CreateLoad(b_.getInt64Ty(), ahead);
  Value* next = b_.CreateAdd(address.base, b_.CreateMul(distance, i64(kFarBlocks)));
  prefetch_lines(next, size_bytes, CacheLevel::second);
}

/// How far a loop moves `value` on in each round; null: by no distance that is the same for all and
/// at hand.
llvm::Value* Prefetcher::round_step(ValueId value, uint32_t loop) {
  if (const Inst* const sum = kernel_.instruction_of(value)) return round_step_of_sum(*sum, loop);
  const Phi* const phi = kernel_.phi_of(value);
  const BlockId header = kernel_.values[value].block;
  if (phi == nullptr || header != plan_.shapes->loops.loops[loop].header) return nullptr;
  const auto& preds = kernel_.blocks[header].preds;
  for (size_t i = 0; i < preds.size(); ++i) {
    if (!plan_.shapes->loops.contains(loop, preds[i])) continue;
    const Inst* const step = kernel_.instruction_of(phi->inputs[i]);
    if (step == nullptr || step->ptx->opcode != Opcode::add || step->guard != kNone) return nullptr;
    const Operand& by = step->ptx->operands[2];
    if (by.kind == Operand::Kind::immediate) return i64(by.bits);
    if (by.kind != Operand::Kind::reg || by.negated) return nullptr;
    const ValueId distance = step->read(by.reg);
    const bool is_same =
        plan_.shapes->values[distance].is_uniform() && addresses_.is_at_hand(distance);
    return is_same ? builder_.coerce(values_.scalar(distance), kernel_.values[distance].type,
                                     ptx::Type::b64)
                   : nullptr;
  }
  return nullptr;
}

/// The step of a sum all but one of whose terms come from outside the loop.
llvm::Value* Prefetcher::round_step_of_sum(const Inst& sum, uint32_t loop) {
  if (sum.ptx->opcode != Opcode::add || sum.guard != kNone) return nullptr;
  ValueId moving = kNone;
  for (const auto& read : sum.reads) {
    const BlockId home = kernel_.values[read.second].block;
    if (home == kNone || !plan_.shapes->loops.contains(loop, home)) continue;
    if (moving != kNone || kernel_.phi_of(read.second) == nullptr) return nullptr;
    moving = read.second;
  }
  return moving == kNone ? nullptr : round_step(moving, loop);
}

/// A loop that loads a tile, meets at a barrier and works on it has nothing to load in between:
/// what the next round loads is asked for with this one's.
bool Prefetcher::prefetch_next_tile(const Inst& inst, const Address& address, uint64_t size_bytes) {
  const auto& loops = plan_.shapes->loops;
  const uint32_t loop = loops.innermost[position_.block];
  const Operand& source = inst.ptx->operands[1];
  if (!plan_.has_phases() || loop == UINT32_MAX || source.reg == ptx::kNone) return false;
  const bool waits = kernel_.has_barrier(loops.loops[loop].nodes);
  Value* const step = waits ? round_step(inst.read(source.reg), loop) : nullptr;
  if (step == nullptr) return false;
  const BlockId entry = plan_.regions.list[position_.region].entry;
  loads_tile_ |= loops.contains(loop, entry);
  const bool are_many_at_once = code_plan_.tiling.packets_in_row(position_.region, loads_tile_) > 2;
  if (!are_many_at_once) {
    prefetch_lines(b_.CreateAdd(address.base, step), size_bytes, CacheLevel::first);
  }
  return true;
}

/// A loop that strides over an array by the grid's size leaves one place in memory for another in
/// every round. What is asked for is what the next packet reads there, which lies beside.
void Prefetcher::prefetch_next_packet(const Inst& inst, const Address& address,
                                      uint64_t size_bytes) {
  const uint32_t loop = plan_.shapes->loops.innermost[position_.block];
  const Operand& source = inst.ptx->operands[1];
  if (loop == UINT32_MAX || source.reg == ptx::kNone) return;
  if (advances_.of(inst.read(source.reg), loop) != AddressAdvance::Kind::unknown_distance) return;
  prefetch_lines(b_.CreateAdd(address.base, i64(size_bytes)), size_bytes, CacheLevel::second);
}

}  // namespace km::simt
