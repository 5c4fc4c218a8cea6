// Failed assertions of kernels. The launch continues for a moment, so that other threads can report
// theirs.
#pragma once

#include "backends/cpu/execution/launch_run.h"
#include "backends/cpu/fault/kernel_thread.h"

namespace km::cpu {

/// Called for the first failed assertion of a launch. Stops the launch if it does not end within
/// half a second, because other threads may wait forever for those that failed; at once if no
/// thread can be started that watches it. `self` is the calling thread, which runs the kernel.
void limit_failed_launch(const LaunchRun& run, const KernelThread& self) noexcept;

}  // namespace km::cpu
