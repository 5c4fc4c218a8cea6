// The limits of blocks and multiprocessors of NVIDIA's devices by compute capability.
#pragma once

#include <cstdint>

namespace km {

/// Limits that depend on the compute capability.
struct CapabilityLimits {
  uint32_t blocks = 0, threads = 0;             // per multiprocessor
  uint32_t registers = 0, block_registers = 0;  // per multiprocessor, per block
  uint64_t shared_bytes = 0;                    // per multiprocessor
  uint64_t block_shared_bytes = 0;              // per block with opt-in
  uint64_t reserved_shared_bytes = 0;           // reserved by the system in each block
  uint64_t shared_unit_bytes = 0;               // allocation granularity
  // Each partition has an equal share of the registers.
  uint32_t register_partitions = 0;
};

/// The shared memory of a block without opt-in, the same on every device.
inline constexpr uint64_t kSharedBytesWithoutOptIn = 48 << 10;

/// The limits of a capability such as 89, which must come from parse_device_capability().
CapabilityLimits capability_limits(uint32_t capability);

/// Replaces the shared memory of a block with opt-in by a larger or smaller size. The
/// multiprocessor's shared memory grows if needed, so that it holds at least one such block.
CapabilityLimits with_block_shared_bytes(CapabilityLimits limits, uint64_t block_shared_bytes);

}  // namespace km
