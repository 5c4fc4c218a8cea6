// Warpgroups, the four warps that wgmma is for.
#pragma once

#include "ptx/ir.h"
#include "simt/abi.h"

namespace km::simt {

constexpr uint32_t kWarpgroupThreads = 128;
/// The barriers that wgmma.wait_group waits at, one for each warpgroup of a block, behind that of
/// the cluster.
constexpr uint32_t kWarpgroupBarrier = kClusterBarrier + 1;
constexpr uint32_t kMostWarpgroups = kMaxBlockThreads / kWarpgroupThreads;

/// wgmma.mma_async: the registers that it writes hold what it adds to.
bool updates_first_operand(const ptx::Instruction& instruction);
/// wgmma.wait_group: a barrier of the four warps of a warpgroup, each of which may change memory
/// after it that the products of the others read.
bool is_warpgroup_wait(const ptx::Instruction& instruction);

}  // namespace km::simt
