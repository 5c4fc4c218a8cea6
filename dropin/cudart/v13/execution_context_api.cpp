// Execution contexts: those of whole devices. Green contexts, which divide a device, are what the
// driver says.
#include "dropin/cudart/call.h"
#include "dropin/cudart/device/execution_context.h"
#include "dropin/cudart/v13/types.h"

namespace km::cudart {

extern "C" {

cudaError_t cudaDeviceGetExecutionCtx(cudaExecutionContext_t* out, int device) {
  return call_driver([&]() -> cudaError_t {
    RT_REQUIRE(out);
    CUcontext context = nullptr;
    RT_TRY(primary_context(device, &context));
    *out = execution_context_of(device);
    return cudaSuccess;
  });
}

cudaError_t cudaExecutionCtxGetDevice(int* out, cudaExecutionContext_t handle) {
  return call_driver([&]() -> cudaError_t {
    RT_REQUIRE(out);
    return device_of(handle, out);
  });
}

cudaError_t cudaExecutionCtxGetId(cudaExecutionContext_t handle, unsigned long long* out) {
  return call_context([&]() -> cudaError_t {
    CUcontext context = nullptr;
    RT_TRY(context_of(handle, &context));
    return driver.cuCtxGetId(context, out);
  });
}

cudaError_t cudaExecutionCtxStreamCreate(cudaStream_t* out, cudaExecutionContext_t handle,
                                         unsigned flags, int priority) {
  return call_driver([&]() -> cudaError_t {
    int device = 0;
    RT_TRY(device_of(handle, &device));
    const DeviceScope scope(device);
    RT_TRY(scope.status());
    return driver.cuStreamCreateWithPriority(out, flags, priority);
  });
}

cudaError_t cudaExecutionCtxSynchronize(cudaExecutionContext_t handle) {
  return call_driver([&]() -> cudaError_t {
    int device = 0;
    RT_TRY(device_of(handle, &device));
    const DeviceScope scope(device);
    RT_TRY(scope.status());
    return driver.cuCtxSynchronize();
  });
}

cudaError_t cudaExecutionCtxRecordEvent(cudaExecutionContext_t handle, cudaEvent_t event) {
  return call_context([&]() -> cudaError_t {
    CUcontext context = nullptr;
    RT_TRY(context_of(handle, &context));
    return driver.cuCtxRecordEvent(context, event);
  });
}

cudaError_t cudaExecutionCtxWaitEvent(cudaExecutionContext_t handle, cudaEvent_t event) {
  return call_context([&]() -> cudaError_t {
    CUcontext context = nullptr;
    RT_TRY(context_of(handle, &context));
    return driver.cuCtxWaitEvent(context, event);
  });
}

cudaError_t cudaExecutionCtxDestroy(cudaExecutionContext_t handle) {
  return call_driver([&]() -> cudaError_t {
    int device = 0;
    RT_TRY(device_of(handle, &device));
    return cudaErrorNotPermitted;  // a device's own stays
  });
}

cudaError_t cudaExecutionCtxGetDevResource(cudaExecutionContext_t handle, cudaDevResource* out,
                                           cudaDevResourceType type) {
  return call_context([&]() -> cudaError_t {
    CUcontext context = nullptr;
    RT_TRY(context_of(handle, &context));
    return driver.cuCtxGetDevResource(context, out, type);
  });
}

cudaError_t cudaDeviceGetDevResource(int device, cudaDevResource* out, cudaDevResourceType type) {
  return call_driver([&] { return driver.cuDeviceGetDevResource(device, out, type); });
}

cudaError_t cudaStreamGetDevResource(cudaStream_t stream, cudaDevResource* out,
                                     cudaDevResourceType type) {
  return call_context([&] { return driver.cuStreamGetDevResource(stream, out, type); });
}

cudaError_t cudaDevSmResourceSplitByCount(cudaDevResource* out, unsigned* groups,
                                          const cudaDevResource* input, cudaDevResource* rest,
                                          unsigned flags, unsigned least) {
  return call_driver(
      [&] { return driver.cuDevSmResourceSplitByCount(out, groups, input, rest, flags, least); });
}

cudaError_t cudaDevSmResourceSplit(cudaDevResource* out, unsigned groups,
                                   const cudaDevResource* input, cudaDevResource* rest,
                                   unsigned flags, cudaDevSmResourceGroupParams* params) {
  return call_driver(
      [&] { return driver.cuDevSmResourceSplit(out, groups, input, rest, flags, params); });
}

cudaError_t cudaDevResourceGenerateDesc(cudaDevResourceDesc_t* out, cudaDevResource* resources,
                                        unsigned count) {
  return call_driver([&] { return driver.cuDevResourceGenerateDesc(out, resources, count); });
}

}  // extern "C"

}  // namespace km::cudart
