// The words for what went wrong in a kernel or a copy.
#pragma once

#include <span>
#include <string>

#include "backends/cpu/command/command.h"
#include "backends/cpu/command/task.h"
#include "backends/cpu/execution/executor.h"
#include "backends/cpu/memory/allocations.h"
#include "base/result.h"

namespace km::cpu {

/// Kernel, block, thread, address and PTX line of a fault, as a sticky error.
Error describe_fault(const KernelFault& fault, const LaunchRun& run,
                     const Allocations& allocations);
/// Names the places at which some blocks of a launch wait in which nothing happens, as a line of
/// the log.
std::string describe_stall(std::span<const ResidentBlock* const> blocks, const LaunchRun& run);
Error describe_timeout(const KernelFault& fault, const LaunchRun& run, uint64_t limit_ms);
Error describe_transfer_fault(uint64_t address, const Transfer& transfer,
                              const Allocations& allocations);
Error describe_task_fault(const Fault& fault, const Task& task, const Allocations& allocations);

}  // namespace km::cpu
