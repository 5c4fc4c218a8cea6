// The layout of a block's shared memory beyond the kernel's variables, on which generated code and
// the runtime agree.
#pragma once

#include <cstdint>

#include "ptx/ir.h"

namespace km::simt {

/// The allocation granularity of a block's shared memory since compute capability 8.0.
constexpr uint64_t kSharedGranuleBytes = 128;
/// The memory that CUDA reserves after the shared memory of a block (%reserved_smem_offset_begin).
/// Kernels that use it find zeros there when a block begins.
constexpr uint32_t kReservedSharedBytes = 1024;
/// Offsets in the reserved memory (%reserved_smem_offset_0 and _1). Cooperative groups of several
/// warps keep barriers and values at the second one.
constexpr uint32_t kReservedSharedOffsets[] = {64, 512};

/// True if a kernel reads the offset of the reserved memory.
bool reserves_shared(const ptx::Function& function);

/// True if a kernel reads the size of shared memory, which must then be a whole number of granules.
bool reads_shared_size(const ptx::Function& function);

}  // namespace km::simt
