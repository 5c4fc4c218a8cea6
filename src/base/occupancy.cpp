#include "base/occupancy.h"

#include <algorithm>
#include <iterator>

#include "base/integers.h"

namespace km {
namespace {

constexpr uint32_t kRegisterUnit = 256;  // allocation granularity of a warp's registers

uint64_t warps_of(const MultiprocessorLimits& limits, uint32_t block_threads) {
  return (uint64_t{block_threads} + limits.warp_threads - 1) / limits.warp_threads;
}

uint64_t registers_of_warp(const MultiprocessorLimits& limits, const KernelNeeds& needs) {
  return round_up(uint64_t{needs.registers} * limits.warp_threads, kRegisterUnit);
}

/// The registers of one block, rounded up to the allocation granularity.
uint64_t registers_of_block(const MultiprocessorLimits& limits, const KernelNeeds& needs,
                            uint32_t block_threads) {
  return registers_of_warp(limits, needs) *
         round_up(warps_of(limits, block_threads), limits.register_partitions);
}

uint64_t blocks_by_registers(const MultiprocessorLimits& limits, const KernelNeeds& needs,
                             uint32_t block_threads) {
  const uint64_t of_warp = registers_of_warp(limits, needs);
  if (of_warp == 0) return UINT64_MAX;
  if (registers_of_block(limits, needs, block_threads) > limits.block_registers) return 0;
  const uint64_t parts = limits.register_partitions;
  const uint64_t warps = limits.registers / parts / of_warp * parts;
  return warps / warps_of(limits, block_threads);
}

/// The shared memory of one block, rounded up to the allocation granularity; 0: none. UINT64_MAX
/// fits no multiprocessor.
uint64_t shared_of_block(const MultiprocessorLimits& limits, const KernelNeeds& needs,
                         uint64_t dynamic_bytes) {
  if (!may_have_shared(limits.block_shared_bytes, needs, dynamic_bytes)) return UINT64_MAX;
  return round_up(needs.static_shared_bytes + dynamic_bytes + limits.reserved_shared_bytes,
                  limits.shared_unit_bytes);
}

}  // namespace

km_occupancy compute_occupancy(const MultiprocessorLimits& limits, const KernelNeeds& needs,
                               uint32_t block_threads, uint64_t dynamic_shared_bytes) {
  km_occupancy result{};
  const uint64_t warps = warps_of(limits, block_threads);
  const uint64_t max_warps = limits.threads / limits.warp_threads;
  const uint64_t shared = shared_of_block(limits, needs, dynamic_shared_bytes);
  const bool fits = block_threads <= std::min(limits.block_threads, needs.max_threads);
  result.max_warps = saturate_u32(max_warps);
  result.blocks_by_warps = fits ? saturate_u32(max_warps / warps) : 0;
  result.blocks_by_registers = saturate_u32(blocks_by_registers(limits, needs, block_threads));
  result.blocks_by_shared_memory =
      shared == 0 ? UINT32_MAX : saturate_u32(limits.shared_bytes / shared);
  result.blocks_by_blocks = limits.blocks;
  result.registers_per_block = saturate_u32(registers_of_block(limits, needs, block_threads));
  result.shared_bytes_per_block = shared == UINT64_MAX ? 0 : shared;
  const struct {
    km_occupancy_limit limit;
    uint32_t blocks;
  } by[] = {{KM_OCCUPANCY_LIMIT_WARPS, result.blocks_by_warps},
            {KM_OCCUPANCY_LIMIT_REGISTERS, result.blocks_by_registers},
            {KM_OCCUPANCY_LIMIT_SHARED_MEMORY, result.blocks_by_shared_memory},
            {KM_OCCUPANCY_LIMIT_BLOCKS, result.blocks_by_blocks}};
  const auto* least =
      std::min_element(std::begin(by), std::end(by),
                       [](const auto& a, const auto& b) { return a.blocks < b.blocks; });
  result.limit = least->limit;
  result.active_blocks = least->blocks;
  result.active_warps = saturate_u32(result.active_blocks * warps);
  result.percent = saturate_u32(result.active_warps * uint64_t{100} / max_warps);
  return result;
}

}  // namespace km
