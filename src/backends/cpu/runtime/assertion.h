// Failed assertions of kernels. The launch continues for a moment, so that other threads can report
// theirs.
#pragma once

#include "backends/cpu/execution/launch_run.h"

namespace km::cpu {

/// Called for the first failed assertion of a launch. Stops the launch if it does not end within
/// half a second, because other threads may wait forever for those that failed.
void limit_failed_launch(const LaunchRun& run) noexcept;

}  // namespace km::cpu
