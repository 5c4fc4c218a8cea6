// Device functions of CUDA 12, and functions from CUDA 1 to 11 that it still has.
#include <cstddef>
#include <cstring>

#include "dropin/cudart/device/context.h"
#include "dropin/cudart/device/device_properties.h"
#include "dropin/cudart/frame/version.h"
#include "dropin/cudart/v12/types.h"

namespace km::cudart {

const int kRuntimeVersion = kVersion12;

extern "C" {

cudaError_t cudaGetDeviceProperties_v2(void* out, int device) {
  return call([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    LIB_TRY(check_ordinal(device));
    DeviceProp12 found{};
    LIB_TRY(fill_properties(&found, device));
    std::memcpy(out, &found, sizeof found);
    return cudaSuccess;
  });
}

// Programs built with CUDA 11 call this function; their structure is a prefix of CUDA 12's.
cudaError_t cudaGetDeviceProperties(void* out, int device) {
  return call([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    LIB_TRY(check_ordinal(device));
    DeviceProp12 found{};
    LIB_TRY(fill_properties(&found, device));
    std::memcpy(out, &found, offsetof(DeviceProp12, hostRegisterSupported));
    return cudaSuccess;
  });
}

cudaError_t cudaChooseDevice(int* out, const cudaDeviceProp* wished) {
  return call_driver(
      [&] { return choose_by_properties(out, reinterpret_cast<const DeviceProp12*>(wished)); });
}

cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadGetLimit(size_t* out, cudaLimit limit) {
  return cudaDeviceGetLimit(out, limit);
}
cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* out) { return cudaDeviceGetCacheConfig(out); }
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}

// Doubles have needed no conversion since compute capability 1.3.
cudaError_t cudaSetDoubleForDevice(double* value) {
  return call(
      [&]() -> cudaError_t { return value != nullptr ? cudaSuccess : cudaErrorInvalidValue; });
}
cudaError_t cudaSetDoubleForHost(double* value) { return cudaSetDoubleForDevice(value); }

cudaError_t cudaEventElapsedTime_v2(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return cudaEventElapsedTime(ms, start, end);
}

}  // extern "C"

}  // namespace km::cudart
