// The findings of a launch, in words.
#pragma once

#include "backends/cpu/execution/kernel_fault.h"
#include "backends/cpu/execution/launch_run.h"
#include "backends/cpu/memory/allocations.h"

namespace km::cpu {

/// Makes findings of the defects that the checker has noted in a launch that is over.
void report_checks(const LaunchRun& run, const Allocations& allocations);
/// Makes a finding of a fault that ended a launch with this error.
void report_fault(const KernelFault& fault, const LaunchRun& run, const Error& error);

}  // namespace km::cpu
