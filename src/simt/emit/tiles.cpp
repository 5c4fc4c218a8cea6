// Short regions between barriers: several packets at a time, woven into each other where no access
// can fault.
#include <algorithm>

#include "simt/emit/emitter.h"
#include "simt/emit/weave.h"

namespace km::simt {

/// A short region of loads and arithmetic runs for several packets at a time: what they all load is
/// loaded once, and what waits in one does not wait in the next.
bool Emitter::is_tiled(uint32_t region) const {
  constexpr size_t kMaxInstructions = 96;
  const uint64_t threads = plan_.variant.threads();
  const auto& steps = plan_.linear[region].steps;
  const bool even = threads != 0 && threads % (uint64_t{lanes_} * kTilePackets) == 0;
  if (!even || plan_.variant.checked || entry_masked_[region] || steps.empty()) return false;
  size_t size = 0;
  for (const Step& step : steps) {
    if (step.linear || step_is_masked(region, static_cast<uint32_t>(&step - steps.data()))) {
      return false;
    }
    for (const Inst& inst : kernel_.blocks[step.block].insts) {
      ++size;
      const bool loads =
          inst.ptx->opcode == ptx::Opcode::ld && inst.ptx->has(ptx::Modifier::shared);
      if (has_effects(*inst.ptx) && !loads && !is_barrier(*inst.ptx)) return false;
    }
  }
  return plan_.linear[region].loops.loops.empty() && size <= kMaxInstructions;
}

/// True if a load of shared memory stays within the kernel's variables, for every thread.
bool Emitter::is_within_variables(const Inst& inst, BlockId block) const {
  const MemoryAccess access = *memory_access(inst);
  const ptx::Operand& place = *access.place;
  if (place.reg == ptx::kNone) return is_within_symbol(access);
  const Shape shape = plan_.shapes->at(kernel_, inst.read(place.reg), block);
  const auto size_bytes = static_cast<int64_t>(access.size_bytes);
  const auto last = static_cast<int64_t>(plan_.layout->shared_static_bytes) - size_bytes;
  return shape.bounded && shape.low >= -place.offset && shape.high <= last - place.offset;
}

/// True if no lane's address is misaligned, as far as is known here.
bool Emitter::is_surely_aligned(const Inst& inst, BlockId block) const {
  const MemoryAccess access = *memory_access(inst);
  const ptx::Operand& place = *access.place;
  if (place.reg == ptx::kNone) return true;
  const Shape shape = plan_.shapes->at(kernel_, inst.read(place.reg), block);
  const auto size_bytes = static_cast<int64_t>(access.size_bytes);
  return !shape.is_varying() && int64_t{1} << std::min<unsigned>(shape.align, 32) >= size_bytes &&
         place.offset % size_bytes == 0 &&
         (!shape.is_offset() ||
          are_multiples_apart(plan_.shapes->offsets[shape.offsets], access.size_bytes));
}

/// True if packets may be woven: nothing in the tile can fault, so no message needs the running
/// packet.
bool Emitter::is_woven(uint32_t region) const {
  if (!is_tiled(region)) return false;
  for (const Step& step : plan_.linear[region].steps) {
    for (const Inst& inst : kernel_.blocks[step.block].insts) {
      if (inst.ptx->opcode != ptx::Opcode::ld) continue;
      if (!is_within_variables(inst, step.block) || !is_surely_aligned(inst, step.block)) {
        return false;
      }
    }
  }
  return true;
}

/// A processor should see as many chains of 16 elements at once as its units have results under
/// way.
uint32_t Emitter::tile_packets(uint32_t region) const {
  const uint64_t packets = plan_.variant.threads() / lanes_;
  const bool many = has_avx512() && lanes_ <= 16 && is_woven(region);
  return many && packets % (2 * kTilePackets) == 0 ? 2 * kTilePackets : kTilePackets;
}

/// How many packets in a row the code of a region's loop is for. Where it loads a tile, a processor
/// should see as many of its loads at once as it can: with AVX-512 those of all packets, if these
/// are few.
uint32_t Emitter::packets_in_row(uint32_t region) const {
  constexpr size_t kMaxInstructions = 40;
  constexpr uint32_t kMaxPackets = 16;
  if (is_tiled(region)) return tile_packets(region);
  const uint64_t threads = plan_.variant.threads();
  const bool even = threads != 0 && threads % (uint64_t{lanes_} * 2) == 0;
  if (!loads_tile_ || !even) return 1;
  size_t size = 0;
  for (BlockId b : plan_.regions.list[region].blocks) size += kernel_.blocks[b].insts.size();
  if (size > kMaxInstructions) return 1;
  return has_avx512() && plan_.packets <= kMaxPackets ? plan_.packets : 2;
}

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
  for (auto block = std::next(before->getIterator()); block != entry_->end(); ++block) {
    for (llvm::Instruction& each : *block) {
      if (is_woven_arithmetic(each)) each.setMetadata(kWovenMetadata, mark);
    }
  }
}

}  // namespace km::simt
