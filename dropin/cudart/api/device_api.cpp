// Device queries, each thread's selected device, its limits and flags.
#include <algorithm>

#include "dropin/cudart/device/context.h"
#include "dropin/cudart/frame/version.h"

namespace km::cudart {

namespace {

constexpr unsigned kDeviceFlags = 0xFF;  // the flags that the driver knows

cudaError_t set_flags(int device, unsigned flags) {
  if ((flags & ~kDeviceFlags) != 0) return cudaErrorInvalidValue;
  return driver.cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

}  // namespace

extern "C" {

cudaError_t cudaRuntimeGetVersion(int* out) {
  return call([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    *out = kRuntimeVersion;
    return cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int* out) {
  return call([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    *out = 0;  // a missing driver is not an error here
    if (load_driver() == cudaErrorInsufficientDriver) return cudaSuccess;
    return driver.cuDriverGetVersion(out);
  });
}

cudaError_t cudaGetDeviceCount(int* out) {
  return call([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    return count_devices(out);
  });
}

cudaError_t cudaGetDevice(int* out) {
  return call([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    int device = 0;
    LIB_TRY(current_device(&device));
    *out = device;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call([&] { return choose_device(device); });
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  constexpr unsigned kFlagsAreValid = 1;
  return call_driver([&]() -> cudaError_t {
    if ((flags & ~kFlagsAreValid) != 0) return cudaErrorInvalidValue;
    LIB_TRY(check_ordinal(device));
    if ((flags & kFlagsAreValid) != 0) LIB_TRY(set_flags(device, device_flags));
    CUcontext context = nullptr;
    return primary_context(device, &context);
  });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return call([&]() -> cudaError_t {
    if (count < 0 || (count > 0 && devices == nullptr)) return cudaErrorInvalidValue;
    return set_valid_devices(devices, count);
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call_driver([&]() -> cudaError_t {
    int device = 0;
    LIB_TRY(current_device(&device));
    return set_flags(device, flags);
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* out) {
  return call_driver([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUcontext current = nullptr;
    LIB_TRY(driver.cuCtxGetCurrent(&current));
    if (current != nullptr) return driver.cuCtxGetFlags(out);
    int device = 0, active = 0;
    LIB_TRY(current_device(&device));
    return driver.cuDevicePrimaryCtxGetState(device, out, &active);
  });
}

cudaError_t cudaDeviceReset() {
  return call_driver([] { return reset_device(); });
}

cudaError_t cudaDeviceSynchronize() {
  return call_context([] { return driver.cuCtxSynchronize(); });
}

cudaError_t cudaDeviceGetAttribute(int* out, cudaDeviceAttr attribute, int device) {
  return call_driver([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    LIB_TRY(check_ordinal(device));
    return driver.cuDeviceGetAttribute(out, attribute, device);
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* out, const char* bus_id) {
  return call_driver([&] { return driver.cuDeviceGetByPCIBusId(out, bus_id); });
}

cudaError_t cudaDeviceGetPCIBusId(char* out, int size_bytes, int device) {
  return call_driver([&]() -> cudaError_t {
    LIB_TRY(check_ordinal(device));
    return driver.cuDeviceGetPCIBusId(out, size_bytes, device);
  });
}

cudaError_t cudaDeviceGetLimit(size_t* out, cudaLimit limit) {
  return call_context([&] { return driver.cuCtxGetLimit(out, limit); });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call_context([&] { return driver.cuCtxSetLimit(limit, value); });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* out) {
  return call_context([&] { return driver.cuCtxGetCacheConfig(out); });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return call_context([&] { return driver.cuCtxSetCacheConfig(config); });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* out) {
  return call_context([&] { return driver.cuCtxGetSharedMemConfig(out); });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return call_context([&] { return driver.cuCtxSetSharedMemConfig(config); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call_context([&] { return driver.cuCtxGetStreamPriorityRange(least, greatest); });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return call_context([] { return driver.cuCtxResetPersistingL2Cache(); });
}

cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget target,
                                               cudaFlushGPUDirectRDMAWritesScope scope) {
  return call_context([&] { return driver.cuFlushGPUDirectRDMAWrites(target, scope); });
}

cudaError_t cudaDeviceGetNvSciSyncAttributes(void* list, int device, int flags) {
  return call_driver([&]() -> cudaError_t {
    LIB_TRY(check_ordinal(device));
    return driver.cuDeviceGetNvSciSyncAttributes(list, device, flags);
  });
}

cudaError_t cudaDeviceRegisterAsyncNotification(int device, cudaAsyncCallback callback, void* data,
                                                cudaAsyncCallbackHandle_t* out) {
  return call_driver(
      [&] { return driver.cuDeviceRegisterAsyncNotification(device, callback, data, out); });
}

cudaError_t cudaDeviceUnregisterAsyncNotification(int device, cudaAsyncCallbackHandle_t callback) {
  return call_driver([&] { return driver.cuDeviceUnregisterAsyncNotification(device, callback); });
}

}  // extern "C"

}  // namespace km::cudart
