// Failed assertions of kernels: a launch in which one fails goes on, so that others can say the
// same, but not for long.
#pragma once

#include "backends/cpu/execution/launch_run.h"

namespace km::cpu {

/// The launch's first assertion has failed: it is stopped when it does not end within a moment. The
/// threads that failed may be waited for.
void limit_failed_launch(const LaunchRun& run) noexcept;

}  // namespace km::cpu
