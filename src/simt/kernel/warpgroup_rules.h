// Warpgroups: four warps that execute wgmma together.
#pragma once

#include "ptx/ir.h"
#include "simt/abi.h"

namespace km::simt {

constexpr uint32_t kWarpgroupThreads = 128;
/// The barriers for wgmma.wait_group, one for each warpgroup of a block, numbered after that of the
/// cluster.
constexpr uint32_t kWarpgroupBarrier = kClusterBarrier + 1;
constexpr uint32_t kMostWarpgroups = kMaxBlockThreads / kWarpgroupThreads;

/// True for wgmma.mma_async, which accumulates: the registers it writes are also read.
bool updates_first_operand(const ptx::Instruction& instruction);
/// True for wgmma.wait_group, a barrier of the four warps of a warpgroup, since each of them may
/// change memory after it that the products of the others read.
bool is_warpgroup_wait(const ptx::Instruction& instruction);

}  // namespace km::simt
