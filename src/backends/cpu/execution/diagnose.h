// Messages for faults in kernels.
#pragma once

#include <span>
#include <string>

#include "backends/cpu/execution/kernel_fault.h"
#include "backends/cpu/execution/launch_run.h"
#include "backends/cpu/execution/resident_block.h"
#include "backends/cpu/memory/allocations.h"
#include "base/result.h"

namespace km::cpu {

/// The three indices "(x,y,z)" of a thread in a block, or of a block in a grid, of this size.
std::string index_text(const uint32_t size[3], uint64_t linear);
/// The text of a line's position in the code, which is kept, because finding it searches the
/// module. Thread-safe.
const std::string& position_of_line(const CodeUnit& unit, uint32_t line);
/// The place of an address, with the parameters that point into the same allocation.
std::string locate(uint64_t address, const Allocations& allocations, const LaunchRun& run);
/// A sticky error with the kernel, block, thread, address and PTX line of a fault.
Error describe_fault(const KernelFault& fault, const LaunchRun& run,
                     const Allocations& allocations);
/// A line of the log that names the places where some blocks of a stalled launch wait.
std::string describe_stall(std::span<const ResidentBlock* const> blocks, const LaunchRun& run);
/// describe_fault() for a kernel that was stopped by the time limit.
Error describe_timeout(const KernelFault& fault, const LaunchRun& run, uint64_t limit_ms);

}  // namespace km::cpu
