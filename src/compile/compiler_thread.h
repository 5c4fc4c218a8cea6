// NVRTC recurses with the source and needs megabytes of stack; callers may have 64 KiB (Go, musl).
#pragma once

#include <functional>

#include "base/result.h"

namespace km {

/// Runs `work` on a thread of its own and waits for it: 64 MiB of stack, all signals but faults
/// blocked, the C locale and default floating point modes, whatever the caller has set. One at a
/// time. The end of the process waits for one that runs; KM_ERROR_NVRTC_UNAVAILABLE from then on,
/// because static objects of an NVRTC that the host program has loaded itself are destroyed. What
/// `work` throws is thrown on.
Status run_on_compiler_thread(const std::function<void()>& work);

}  // namespace km
