// Execution contexts of CUDA 13: the primary context of a device, or a green context.
#pragma once

#include "dropin/cudart/driver.h"

namespace km::cudart {

/// The execution context of a device that there is.
cudaExecutionContext_t execution_context_of(int device);
/// The device of an execution context. cudaErrorInvalidResourceHandle.
cudaError_t device_of(cudaExecutionContext_t handle, int* out);
/// The driver's context for an execution context; null: the current one.
/// cudaErrorInvalidResourceHandle.
cudaError_t context_of(cudaExecutionContext_t handle, CUcontext* out);

}  // namespace km::cudart
