#include "simt/plan/tiling.h"

#include <algorithm>

#include "base/assert.h"
#include "simt/analysis/memory/memory_access.h"

namespace km::simt {

namespace {

constexpr uint32_t kTilePackets = 4;

}  // namespace

/// A short region of loads and arithmetic runs for several packets at a time: common loads are
/// shared, and the latency of one packet is hidden by the next.
bool Tiling::is_tiled(uint32_t region) const {
  constexpr size_t kMaxInstructions = 96;
  const uint64_t threads = plan_.variant.threads();
  const auto& steps = plan_.linear[region].steps;
  const bool even = threads != 0 && threads % (uint64_t{plan_.lanes} * kTilePackets) == 0;
  if (!even || plan_.variant.checked || masks_.is_masked(region) || steps.empty()) return false;
  size_t size = 0;
  for (const Step& step : steps) {
    if (step.linear || masks_.step_is_masked(region, static_cast<uint32_t>(&step - steps.data()))) {
      return false;
    }
    for (const Inst& inst : plan_.kernel->blocks[step.block].insts) {
      ++size;
      const bool loads =
          inst.ptx->opcode == ptx::Opcode::ld && inst.ptx->has(ptx::Modifier::shared);
      if (has_effects(*inst.ptx) && !loads && !is_barrier(*inst.ptx)) return false;
    }
  }
  return plan_.linear[region].loops.loops.empty() && size <= kMaxInstructions;
}

/// True if a load of shared memory is within the kernel's variables for every thread.
bool Tiling::is_within_variables(const Inst& inst, BlockId block) const {
  const MemoryAccess access = *memory_access(*plan_.kernel, inst);
  const ptx::Operand& place = *access.place;
  if (place.reg == ptx::kNone) return is_within_symbol(*plan_.kernel, access);
  const Shape shape = plan_.shapes->at(*plan_.kernel, inst.read(place.reg), block);
  const auto size_bytes = static_cast<int64_t>(access.size_bytes);
  const auto last = static_cast<int64_t>(plan_.layout->shared_static_bytes) - size_bytes;
  return shape.bounded && shape.low >= -place.offset && shape.high <= last - place.offset;
}

/// True if the analysis proves that every lane's address is aligned.
bool Tiling::is_surely_aligned(const Inst& inst, BlockId block) const {
  const MemoryAccess access = *memory_access(*plan_.kernel, inst);
  const ptx::Operand& place = *access.place;
  if (place.reg == ptx::kNone) return true;
  const Shape shape = plan_.shapes->at(*plan_.kernel, inst.read(place.reg), block);
  const auto size_bytes = static_cast<int64_t>(access.size_bytes);
  return !shape.is_varying() && int64_t{1} << std::min<unsigned>(shape.align, 32) >= size_bytes &&
         place.offset % size_bytes == 0 &&
         (!shape.is_offset() || are_multiples_apart(plan_.shapes->offsets[shape.offsets],
                                                    plan_.lanes, access.size_bytes));
}

bool Tiling::is_interleaved(uint32_t region) const {
  if (!is_tiled(region)) return false;
  for (const Step& step : plan_.linear[region].steps) {
    for (const Inst& inst : plan_.kernel->blocks[step.block].insts) {
      if (inst.ptx->opcode != ptx::Opcode::ld) continue;
      if (!is_within_variables(inst, step.block) || !is_surely_aligned(inst, step.block)) {
        return false;
      }
    }
  }
  return true;
}

/// The tile should have as many independent chains of 16 elements as the processor's units have
/// operations in flight.
uint32_t Tiling::tile_packets(uint32_t region) const {
  const uint64_t packets = plan_.variant.threads() / plan_.lanes;
  KM_ASSERT(packets % kTilePackets == 0, "tiles are whole");
  const bool many =
      plan_.machine().has_many_registers() && plan_.lanes <= 16 && is_interleaved(region);
  return many && packets % (2 * kTilePackets) == 0 ? 2 * kTilePackets : kTilePackets;
}

uint32_t Tiling::packets_in_row(uint32_t region, bool loads_tile) const {
  constexpr size_t kMaxInstructions = 40;
  constexpr uint32_t kMaxPackets = 16;
  if (is_tiled(region)) return tile_packets(region);
  const uint64_t threads = plan_.variant.threads();
  const bool even = threads != 0 && threads % (uint64_t{plan_.lanes} * 2) == 0;
  if (!loads_tile || !even) return 1;
  size_t size = 0;
  for (BlockId b : plan_.regions.list[region].blocks) size += plan_.kernel->blocks[b].insts.size();
  if (size > kMaxInstructions) return 1;
  return plan_.machine().has_many_registers() && plan_.packets <= kMaxPackets ? plan_.packets : 2;
}

}  // namespace km::simt
