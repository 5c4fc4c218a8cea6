// The last error of each thread.
#pragma once

#include <atomic>

#include "dropin/cudart/frame/types.h"

namespace km::cudart {

/// Counts calls of cudaDeviceReset; starts at 1. A reset ends errors of kernels and contexts.
extern std::atomic<uint64_t> reset_epoch;

/// Remembers a failure as the thread's last error; numbers that the runtime does not have become
/// cudaErrorUnknown. Gives the error.
cudaError_t record(cudaError_t error) noexcept;

/// The thread's last error; those that a reset of the device has ended are none any more.
cudaError_t last_error() noexcept;
/// last_error(), which is then forgotten unless it stays until a reset.
cudaError_t take_last_error() noexcept;

}  // namespace km::cudart
