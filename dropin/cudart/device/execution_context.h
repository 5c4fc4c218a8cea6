// Execution contexts of CUDA 13: the primary context of a device, or a green context.
#pragma once

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

/// The driver's objects behind an execution context.
struct ExecutionContextView {
  int device = 0;
  CUgreenCtx green = nullptr;  // null: the device's own
};

/// The execution context of a device that there is.
cudaExecutionContext_t execution_context_of(int device);
/// Gives a green context a handle. std::bad_alloc.
cudaExecutionContext_t add_green_context(int device, CUgreenCtx green);
/// Ends the handle of a green context, which the caller destroys. cudaErrorInvalidResourceHandle;
/// cudaErrorNotPermitted: a device's own stays.
cudaError_t take_green_context(cudaExecutionContext_t handle, CUgreenCtx* out);
/// cudaErrorInvalidResourceHandle.
cudaError_t find_execution_context(cudaExecutionContext_t handle, ExecutionContextView* out);
/// The driver's context for an execution context; null: the current one.
/// cudaErrorInvalidResourceHandle.
cudaError_t context_of(cudaExecutionContext_t handle, CUcontext* out);

}  // namespace km::cudart
