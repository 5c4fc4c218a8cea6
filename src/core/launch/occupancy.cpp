#include "core/launch/occupancy.h"
#include "base/cuda/capability_limits.h"
#include "base/integers.h"
#include "base/text.h"

#include <algorithm>
#include <cinttypes>

namespace km {
namespace {

// CUDA's numbers of attributes that have no KM_DEVICE_ATTRIBUTE of their own.
constexpr km_device_attribute kSharedPerMultiprocessor =
    KM_DEVICE_ATTRIBUTE_CUDA + kSharedPerMultiprocessorAttribute;
constexpr km_device_attribute kRegistersPerMultiprocessor =
    KM_DEVICE_ATTRIBUTE_CUDA + kRegistersPerMultiprocessorAttribute;
constexpr km_device_attribute kBlocksPerMultiprocessor =
    KM_DEVICE_ATTRIBUTE_CUDA + kBlocksPerMultiprocessorAttribute;
constexpr km_device_attribute kReservedShared = KM_DEVICE_ATTRIBUTE_CUDA + kReservedSharedAttribute;
constexpr km_device_attribute kClusterLaunch = KM_DEVICE_ATTRIBUTE_CUDA + 120;

Result<uint64_t> attribute_of(const Device& device, km_device_attribute attribute) {
  KM_ASSIGN(const int64_t value, device.attribute(attribute));
  return static_cast<uint64_t>(std::max<int64_t>(value, 0));
}

Status read(const Device& device, km_device_attribute attribute, uint32_t* out_value) {
  KM_ASSIGN(const uint64_t value, attribute_of(device, attribute));
  *out_value = saturate_u32(value);
  return {};
}

}  // namespace

Result<MultiprocessorLimits> multiprocessor_limits(const Device& device) {
  MultiprocessorLimits limits;
  uint32_t clusters = 0;
  KM_TRY(read(device, KM_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &limits.count));
  KM_TRY(read(device, KM_DEVICE_ATTRIBUTE_WARP_SIZE, &limits.warp_threads));
  KM_TRY(read(device, KM_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &limits.threads));
  KM_TRY(read(device, KM_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &limits.block_threads));
  KM_TRY(read(device, kBlocksPerMultiprocessor, &limits.blocks));
  KM_TRY(read(device, kRegistersPerMultiprocessor, &limits.registers));
  KM_TRY(read(device, KM_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &limits.block_registers));
  KM_TRY(read(device, kClusterLaunch, &clusters));
  KM_ASSIGN(limits.shared_bytes, attribute_of(device, kSharedPerMultiprocessor));
  KM_ASSIGN(limits.block_shared_bytes,
            attribute_of(device, KM_DEVICE_ATTRIBUTE_SHARED_BYTES_PER_BLOCK_MAX));
  KM_ASSIGN(limits.reserved_shared_bytes, attribute_of(device, kReservedShared));
  const CapabilityLimits units = capability_limits(device.info().compute_capability_major * 10 +
                                                   device.info().compute_capability_minor);
  limits.shared_unit_bytes = units.shared_unit_bytes;
  limits.register_partitions = units.register_partitions;
  limits.has_clusters = clusters != 0;
  if (limits.warp_threads != 0 && limits.threads != 0) return limits;
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "device %s does not tell the limits of its "
                    "multiprocessors",
                    device.info().uri);
}

Result<KernelNeeds> kernel_needs(const Function& function) {
  KernelNeeds needs;
  KM_ASSIGN(const int64_t registers, function.attribute(KM_FUNCTION_ATTRIBUTE_REGISTERS));
  KM_ASSIGN(const int64_t shared, function.attribute(KM_FUNCTION_ATTRIBUTE_SHARED_BYTES));
  KM_ASSIGN(const int64_t threads, function.attribute(KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  needs.registers = static_cast<uint32_t>(registers);
  needs.static_shared_bytes = static_cast<uint64_t>(shared);
  needs.max_threads = static_cast<uint32_t>(threads);
  KM_ASSIGN(const int64_t dynamic,
            function.attribute(KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES));
  needs.max_dynamic_shared_bytes = static_cast<uint64_t>(dynamic);
  return needs;
}

Result<uint64_t> max_cluster_blocks(const Function& function) {
  constexpr uint64_t kPortable = 8, kMost = 16;
  KM_ASSIGN(const auto limits, multiprocessor_limits(function.context().device()));
  if (!limits.has_clusters) return uint64_t{1};
  const Result<int64_t> wide = function.attribute(KM_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER);
  return wide && *wide != 0 ? kMost : kPortable;
}

Result<BestBlock> find_best_block(const MultiprocessorLimits& limits, const KernelNeeds& needs,
                                  const std::function<Result<uint64_t>(uint32_t)>& shared_of,
                                  uint32_t max_block_threads) {
  uint32_t most = std::min(limits.block_threads, needs.max_threads);
  if (max_block_threads != 0) most = std::min(most, max_block_threads);
  BestBlock best;
  uint64_t best_threads = 0;
  // The search goes down in whole warps, so that the first of several equal sizes is the largest.
  for (uint64_t rounded = round_up(most, limits.warp_threads); rounded != 0;
       rounded -= limits.warp_threads) {
    const uint32_t threads = std::min(saturate_u32(rounded), most);
    KM_ASSIGN(const uint64_t shared_bytes, shared_of(threads));
    const km_occupancy found = compute_occupancy(limits, needs, threads, shared_bytes);
    const uint64_t busy = uint64_t{found.active_blocks} * threads;
    if (busy <= best_threads) continue;
    best_threads = busy;
    best = {threads, saturate_u32(uint64_t{found.active_blocks} * limits.count)};
    if (busy == limits.threads) break;
  }
  return best;
}

Result<uint64_t> available_shared_bytes(const MultiprocessorLimits& limits,
                                        const KernelNeeds& needs, uint32_t blocks,
                                        uint32_t block_threads) {
  const km_occupancy without = compute_occupancy(limits, needs, block_threads, 0);
  if (blocks > without.active_blocks) {
    return make_error(
        KM_ERROR_INVALID_LAUNCH,
        "%s of %s do not fit on a multiprocessor: %u do by warps, %u by registers, %u "
        "by static shared memory, %u at all",
        counted(blocks, "block").c_str(), counted(block_threads, "thread").c_str(),
        without.blocks_by_warps, without.blocks_by_registers, without.blocks_by_shared_memory,
        without.blocks_by_blocks);
  }
  const uint64_t unit = limits.shared_unit_bytes;
  const uint64_t share = limits.shared_bytes / blocks / unit * unit;
  const uint64_t taken = needs.static_shared_bytes + limits.reserved_shared_bytes;
  return std::min({share - taken, limits.block_shared_bytes - needs.static_shared_bytes,
                   needs.max_dynamic_shared_bytes});
}

}  // namespace km
