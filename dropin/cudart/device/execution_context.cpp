#include "dropin/cudart/device/execution_context.h"

#include <array>

#include "dropin/cudart/call.h"

namespace km::cudart {

/// Stands for a device.
struct ExecutionContext {
  int device;
};

namespace {

using ExecutionContexts = std::array<ExecutionContext, kMaxDevices>;

ExecutionContexts one_per_device() {
  ExecutionContexts made = {};
  for (int i = 0; i < kMaxDevices; ++i) made[static_cast<size_t>(i)].device = i;
  return made;
}

ExecutionContexts& all() {
  static auto& made = *new ExecutionContexts(one_per_device());
  return made;
}

}  // namespace

cudaError_t device_of(cudaExecutionContext_t handle, int* out) {
  for (ExecutionContext& each : all()) {
    if (&each != handle) continue;
    *out = each.device;
    return cudaSuccess;
  }
  return cudaErrorInvalidResourceHandle;
}

cudaExecutionContext_t execution_context_of(int device) {
  return &all()[static_cast<size_t>(device)];
}

cudaError_t context_of(cudaExecutionContext_t handle, CUcontext* out) {
  if (handle == nullptr) return driver.cuCtxGetCurrent(out);
  int device = 0;
  RT_TRY(device_of(handle, &device));
  return primary_context(device, out);
}

}  // namespace km::cudart
