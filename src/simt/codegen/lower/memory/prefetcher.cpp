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

/// Prefetches each cache line of the memory. The second-level cache allows more outstanding misses
/// than the first, so it suits data that is needed later.
void Prefetcher::prefetch_lines(Value* first, uint64_t size_bytes, CacheLevel level) {
  const unsigned locality = level == CacheLevel::first ? 3 : 2;
  for (uint64_t line = 0; line < size_bytes; line += 64) {
    Value* at = b_.CreateIntToPtr(b_.CreateAdd(first, i64(line)), b_.getPtrTy());
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                       {at, i32(0), i32(locality), i32(1)});
  }
}

/// Memory of two words that keep their content from one block to the next. If each block is a
/// separate call, only scratch memory does so; its initial content is arbitrary, which merely
/// wastes the first prefetches. Null: no place is left there.
llvm::Value* Prefetcher::progress_place() {
  constexpr uint64_t kSize = 2 * sizeof(uint64_t);
  if (!plan_.waits) return builder_.variable(llvm::ArrayType::get(b_.getInt64Ty(), 2), "progress");
  if (progress_used_bytes_ + kSize > SpillLayout::kProgressBytes) return nullptr;
  const uint64_t offset = code_plan_.spills.progress_offset_bytes() + progress_used_bytes_;
  progress_used_bytes_ += kSize;
  return b_.CreateIntToPtr(b_.CreateAdd(frame_.scratch(), i64(offset)), b_.getPtrTy());
}

/// The distance of a load's addresses from one block to the next; nothing if it is unknown.
std::optional<int64_t> Prefetcher::block_step(const Inst& inst) {
  if (!block_strides_) {
    block_strides_.emplace(kernel_, *plan_.shapes, ptx::SpecialRegister::ctaid, uint8_t{0});
  }
  const Operand& source = inst.ptx->operands[1];
  return source.reg == ptx::kNone ? 0 : block_strides_->of(inst.read(source.reg));
}

/// The region's loads from the same address register, in program order.
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

/// Prefetches loads of a later block: between barriers the processor works on data in registers,
/// and out-of-order execution does not reach the next block's loads. If adjacent blocks load long
/// contiguous parts, memory 16 KiB ahead is prefetched in ascending order, at 1.5 times the
/// bandwidth of the order in which it is loaded. Otherwise the loads of the fourth block from here
/// are prefetched.
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
  const uint64_t together = size_bytes * alike.size();  // of one packet
  const uint64_t packets = plan_.variant.threads() / lanes_;
  if (together * packets == static_cast<uint64_t>(*step)) {
    if (alike.front() != &inst) return;
    Value* packet = b_.CreateZExt(b_.CreateLoad(b_.getInt32Ty(), frame_.packet()), b_.getInt64Ty());
    next = b_.CreateAdd(next, b_.CreateMul(packet, i64(together - size_bytes)));
    size_bytes = together;
  }
  prefetch_lines(next, size_bytes, CacheLevel::first);
}

/// Prefetches the loads of the fourth block from here, assuming that the base moves from block to
/// block as it did last time.
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

/// The distance by which a loop advances `value` in each iteration. Null: there is none that is
/// uniform and available here.
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

/// The distance by which a loop advances a sum of which only one term changes inside the loop.
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

/// Prefetches the next iteration of a loop that loads a tile, waits at a barrier and works on the
/// tile: nothing else would overlap those loads with the work. Returns false if the loop is not of
/// this kind.
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

/// Prefetches the next packet's load in a loop that strides over an array by the grid's size. Each
/// iteration moves to a distant address, but adjacent packets load adjacent memory.
void Prefetcher::prefetch_next_packet(const Inst& inst, const Address& address,
                                      uint64_t size_bytes) {
  const uint32_t loop = plan_.shapes->loops.innermost[position_.block];
  const Operand& source = inst.ptx->operands[1];
  if (loop == UINT32_MAX || source.reg == ptx::kNone) return;
  if (advances_.of(inst.read(source.reg), loop) != AddressAdvance::Kind::unknown_distance) return;
  prefetch_lines(b_.CreateAdd(address.base, i64(size_bytes)), size_bytes, CacheLevel::second);
}

}  // namespace km::simt
