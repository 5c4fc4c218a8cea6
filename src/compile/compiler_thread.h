// A thread for NVRTC, which recurses over the source and needs megabytes of stack; callers may have
// only 64 KiB (Go, musl).
#pragma once

#include <functional>

#include "base/result.h"

namespace km {

/// Runs `work` on a new thread and waits for it. The thread has 64 MiB of stack, all signals except
/// faults blocked, the C locale and default floating-point modes, independent of the caller's.
/// Calls are serialised. The end of the process waits for a running call; later calls return
/// KM_ERROR_NVRTC_UNAVAILABLE, because static objects of an NVRTC that the host program has loaded
/// itself are destroyed by then. Exceptions of `work` are rethrown.
Status run_on_compiler_thread(const std::function<void()>& work);

}  // namespace km
