// The limits of blocks and multiprocessors of NVIDIA's devices, by compute capability.
#pragma once

#include <cstdint>

namespace km {

/// Limits that differ from one compute capability to another.
struct CapabilityLimits {
  uint32_t blocks = 0, threads = 0;             // of a multiprocessor
  uint32_t registers = 0, block_registers = 0;  // of a multiprocessor, of a block
  uint64_t shared_bytes = 0;                    // of a multiprocessor
  uint64_t block_shared_bytes = 0;              // of a block that opts in
  uint64_t reserved_shared_bytes = 0;           // of each block
  uint64_t shared_unit_bytes = 0;               // in which shared memory is given out
  uint32_t register_partitions = 0;             // each with its part of the registers
};

/// The shared memory of a block that has not opted in to more, on every device.
inline constexpr uint64_t kSharedBytesWithoutOptIn = 48 << 10;

/// The limits of a capability such as 89, which parse_device_capability() has taken.
CapabilityLimits capability_limits(uint32_t capability);

/// Limits with more shared memory, or less, of a block that opts in: a multiprocessor holds one
/// such block at least.
CapabilityLimits with_block_shared_bytes(CapabilityLimits limits, uint64_t block_shared_bytes);

}  // namespace km
