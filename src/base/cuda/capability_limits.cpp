#include "base/cuda/capability_limits.h"

#include <algorithm>
#include <iterator>

namespace km {
namespace {

struct Row {
  uint32_t capability;
  uint32_t blocks, threads, block_registers_ki, shared_kib, block_shared_kib;
};

constexpr Row kRows[] = {
#define KM_CAPABILITY(capability, blocks, threads, registers, shared, block_shared) \
  {capability, blocks, threads, registers, shared, block_shared},
#include "base/cuda/capability_limits.def"
#undef KM_CAPABILITY
};

constexpr uint32_t kRegisters = 64 << 10;  // per multiprocessor, on all capabilities

}  // namespace

CapabilityLimits capability_limits(uint32_t capability) {
  const Row* const after =
      std::upper_bound(std::begin(kRows) + 1, std::end(kRows), capability,
                       [](uint32_t asked, const Row& row) { return asked < row.capability; });
  const Row& row = after[-1];
  // Since 8.0, CUDA reserves 1 KiB per block and allocates in smaller units.
  const bool has_reserved = capability >= 80;
  CapabilityLimits limits;
  limits.blocks = row.blocks;
  limits.threads = row.threads;
  limits.registers = kRegisters;
  limits.block_registers = row.block_registers_ki << 10;
  limits.shared_bytes = uint64_t{row.shared_kib} << 10;
  limits.block_shared_bytes = uint64_t{row.block_shared_kib} << 10;
  limits.reserved_shared_bytes = has_reserved ? 1024 : 0;
  limits.shared_unit_bytes = has_reserved ? 128 : 256;
  limits.register_partitions = capability == 60 ? 2 : 4;
  return limits;
}

CapabilityLimits with_block_shared_bytes(CapabilityLimits limits, uint64_t block_shared_bytes) {
  limits.block_shared_bytes = block_shared_bytes;
  limits.shared_bytes =
      std::max(limits.shared_bytes, block_shared_bytes + limits.reserved_shared_bytes);
  return limits;
}

}  // namespace km
