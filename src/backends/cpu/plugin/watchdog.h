// The time limit of kernels (KM_KERNEL_TIMEOUT_MS).
#pragma once

#include <cstdint>

#include "base/result.h"

namespace km::cpu {

/// Starts the thread that stops kernels which run longer; once per process.
Status start_watchdog(uint64_t limit_ms);

}  // namespace km::cpu
