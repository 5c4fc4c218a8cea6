// Shared memory of a block beyond the kernel's variables: what generated code and the runtime agree
// on.
#pragma once

#include <cstdint>

#include "ptx/ir.h"

namespace km::simt {

/// The unit in which a block is given shared memory, since compute capability 8.0.
constexpr uint64_t kSharedGranuleBytes = 128;
/// The memory that CUDA reserves behind the shared memory of a block
/// (%reserved_smem_offset_begin). Kernels that ask for it find zeros there when a block begins.
constexpr uint32_t kReservedSharedBytes = 1024;
/// Words of the reserved memory (%reserved_smem_offset_0 and _1), from its beginning. Cooperative
/// groups of several warps keep barriers and values at the second one.
constexpr uint32_t kReservedSharedOffsets[] = {64, 512};

/// True if a kernel asks where the reserved memory is.
bool reserves_shared(const ptx::Function& function);

/// True if a kernel asks how much shared memory there is, which ends with a whole granule then.
bool reads_shared_size(const ptx::Function& function);

}  // namespace km::simt
