// Each thread's last error.
#pragma once

#include <atomic>

#include "dropin/cudart/frame/types.h"

namespace km::cudart {

/// Counts calls of cudaDeviceReset, starting at 1. A reset clears errors of kernels and contexts.
extern std::atomic<uint64_t> reset_epoch;

/// Records a failure as the thread's last error and returns it; numbers that the runtime does not
/// define become cudaErrorUnknown.
cudaError_t record(cudaError_t error) noexcept;

/// The thread's last error, unless a reset of the device has cleared it.
cudaError_t last_error() noexcept;
/// Returns last_error() and clears it, unless it persists until a reset.
cudaError_t take_last_error() noexcept;

}  // namespace km::cudart
