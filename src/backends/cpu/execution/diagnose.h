// The words for what went wrong in a kernel.
#pragma once

#include <span>
#include <string>

#include "backends/cpu/execution/kernel_fault.h"
#include "backends/cpu/execution/launch_run.h"
#include "backends/cpu/execution/resident_block.h"
#include "backends/cpu/memory/allocations.h"
#include "base/result.h"

namespace km::cpu {

/// Kernel, block, thread, address and PTX line of a fault, as a sticky error.
Error describe_fault(const KernelFault& fault, const LaunchRun& run,
                     const Allocations& allocations);
/// Names the places at which some blocks of a launch wait in which nothing happens, as a line of
/// the log.
std::string describe_stall(std::span<const ResidentBlock* const> blocks, const LaunchRun& run);
/// describe_fault() for a kernel that the time limit has stopped.
Error describe_timeout(const KernelFault& fault, const LaunchRun& run, uint64_t limit_ms);

}  // namespace km::cpu
