// Execution contexts of CUDA 13: a device's primary context, or a green context.
#pragma once

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

/// The driver's objects for an execution context.
struct ExecutionContextView {
  int device = 0;
  CUgreenCtx green = nullptr;  // null: the device's own context
};

/// The execution context of an existing device.
cudaExecutionContext_t execution_context_of(int device);
/// Creates a handle for a green context. Throws std::bad_alloc.
cudaExecutionContext_t add_green_context(int device, CUgreenCtx green);
/// Ends a green context's handle; the caller then destroys the context.
/// cudaErrorInvalidResourceHandle if the handle is invalid, cudaErrorNotPermitted if it is a
/// device's own context.
cudaError_t take_green_context(cudaExecutionContext_t handle, CUgreenCtx* out);
/// cudaErrorInvalidResourceHandle if the handle is invalid.
cudaError_t find_execution_context(cudaExecutionContext_t handle, ExecutionContextView* out);
/// The driver's context for an execution context; a null handle selects the current one.
/// cudaErrorInvalidResourceHandle if the handle is invalid.
cudaError_t context_of(cudaExecutionContext_t handle, CUcontext* out);

}  // namespace km::cudart
