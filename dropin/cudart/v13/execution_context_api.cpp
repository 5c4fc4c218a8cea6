// Execution contexts: whole devices, and green contexts, which own a part of one.
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/device/execution_context.h"
#include "dropin/cudart/v13/types.h"

namespace km::cudart {

namespace {

/// Waits for all work of the green context's streams, through an event recorded after it.
cudaError_t synchronize(CUgreenCtx green) {
  CUevent event = nullptr;
  LIB_TRY(driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  cudaError_t done = driver.cuGreenCtxRecordEvent(green, event);
  if (done == cudaSuccess) done = driver.cuEventSynchronize(event);
  const cudaError_t destroyed = driver.cuEventDestroy_v2(event);
  return done != cudaSuccess ? done : destroyed;
}

/// Calls the driver for a green context or for a device's primary context; a null handle selects
/// the current context.
template <typename OfGreen, typename OfContext>
cudaError_t dispatch(cudaExecutionContext_t handle, OfGreen of_green, OfContext of_context,
                     const char* function = __builtin_FUNCTION()) {
  return call_context(
      [&]() -> cudaError_t {
        CUcontext context = nullptr;
        if (handle == nullptr) {
          LIB_TRY(driver.cuCtxGetCurrent(&context));
          return of_context(context);
        }
        ExecutionContextView view;
        LIB_TRY(find_execution_context(handle, &view));
        if (view.green != nullptr) return of_green(view.green);
        LIB_TRY(primary_context(view.device, &context));
        return of_context(context);
      },
      function);
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetExecutionCtx(cudaExecutionContext_t* out, int device) {
  return call_driver([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUcontext context = nullptr;
    LIB_TRY(primary_context(device, &context));
    *out = execution_context_of(device);
    return cudaSuccess;
  });
}

cudaError_t cudaGreenCtxCreate(cudaExecutionContext_t* out, cudaDevResourceDesc_t resources,
                               int device, unsigned flags) {
  return call_driver([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    if (flags != 0) return cudaErrorInvalidValue;
    CUcontext context = nullptr;
    LIB_TRY(primary_context(device, &context));
    CUgreenCtx green = nullptr;
    LIB_TRY(driver.cuGreenCtxCreate(&green, resources, device, CU_GREEN_CTX_DEFAULT_STREAM));
    try {
      *out = add_green_context(device, green);
    } catch (const std::bad_alloc&) {
      driver.cuGreenCtxDestroy(green);
      return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaExecutionCtxGetDevice(int* out, cudaExecutionContext_t handle) {
  return call_driver([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    ExecutionContextView view;
    LIB_TRY(find_execution_context(handle, &view));
    *out = view.device;
    return cudaSuccess;
  });
}

cudaError_t cudaExecutionCtxGetId(cudaExecutionContext_t handle, unsigned long long* out) {
  return dispatch(
      handle, [&](CUgreenCtx green) { return driver.cuGreenCtxGetId(green, out); },
      [&](CUcontext context) { return driver.cuCtxGetId(context, out); });
}

cudaError_t cudaExecutionCtxStreamCreate(cudaStream_t* out, cudaExecutionContext_t handle,
                                         unsigned flags, int priority) {
  return call_driver([&]() -> cudaError_t {
    ExecutionContextView view;
    LIB_TRY(find_execution_context(handle, &view));
    const DeviceScope scope(view.device);
    LIB_TRY(scope.status());
    if (view.green == nullptr) return driver.cuStreamCreateWithPriority(out, flags, priority);
    return driver.cuGreenCtxStreamCreate(out, view.green, flags, priority);
  });
}

cudaError_t cudaExecutionCtxSynchronize(cudaExecutionContext_t handle) {
  return call_driver([&]() -> cudaError_t {
    ExecutionContextView view;
    LIB_TRY(find_execution_context(handle, &view));
    const DeviceScope scope(view.device);
    LIB_TRY(scope.status());
    if (view.green != nullptr) return synchronize(view.green);
    return driver.cuCtxSynchronize();
  });
}

cudaError_t cudaExecutionCtxRecordEvent(cudaExecutionContext_t handle, cudaEvent_t event) {
  return dispatch(
      handle, [&](CUgreenCtx green) { return driver.cuGreenCtxRecordEvent(green, event); },
      [&](CUcontext context) { return driver.cuCtxRecordEvent(context, event); });
}

cudaError_t cudaExecutionCtxWaitEvent(cudaExecutionContext_t handle, cudaEvent_t event) {
  return dispatch(
      handle, [&](CUgreenCtx green) { return driver.cuGreenCtxWaitEvent(green, event); },
      [&](CUcontext context) { return driver.cuCtxWaitEvent(context, event); });
}

cudaError_t cudaExecutionCtxDestroy(cudaExecutionContext_t handle) {
  return call_driver([&]() -> cudaError_t {
    CUgreenCtx green = nullptr;
    LIB_TRY(take_green_context(handle, &green));
    return driver.cuGreenCtxDestroy(green);
  });
}

cudaError_t cudaExecutionCtxGetDevResource(cudaExecutionContext_t handle, cudaDevResource* out,
                                           cudaDevResourceType type) {
  return dispatch(
      handle, [&](CUgreenCtx green) { return driver.cuGreenCtxGetDevResource(green, out, type); },
      [&](CUcontext context) { return driver.cuCtxGetDevResource(context, out, type); });
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
