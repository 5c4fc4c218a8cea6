// The watchdog, which enforces the time limit of kernels (KM_KERNEL_TIMEOUT_MS).
#pragma once

#include <cstdint>

#include "base/result.h"

namespace km::cpu {

/// Starts the watchdog thread. Only the first call has an effect.
Status start_watchdog(uint64_t limit_ms);

}  // namespace km::cpu
