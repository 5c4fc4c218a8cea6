// Device and memory functions of CUDA 13.
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/device/device_properties.h"
#include "dropin/cudart/frame/version.h"
#include "dropin/cudart/module/registry.h"
#include "dropin/cudart/v13/types.h"

namespace km::cudart {

const int kRuntimeVersion = kVersion13;

extern "C" {

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  return call([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    LIB_TRY(check_ordinal(device));
    cudaDeviceProp found{};
    LIB_TRY(fill_properties(&found, device));
    *out = found;
    return cudaSuccess;
  });
}

cudaError_t cudaChooseDevice(int* out, const cudaDeviceProp* wished) {
  return call_driver([&] { return choose_by_properties(out, wished); });
}

cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned* out,
                                                const cudaAtomicOperation* operations,
                                                unsigned count, int device) {
  return call_driver(
      [&] { return driver.cuDeviceGetHostAtomicCapabilities(out, operations, count, device); });
}

cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned* out, const cudaAtomicOperation* operations,
                                               unsigned count, int source, int target) {
  return call_driver([&] {
    return driver.cuDeviceGetP2PAtomicCapabilities(out, operations, count, source, target);
  });
}

cudaError_t cudaFuncGetParamCount(const void* symbol, size_t* out) {
  return call_context([&]() -> cudaError_t {
    CUkernel kernel = nullptr;
    LIB_TRY(find_kernel(symbol, &kernel));
    return driver.cuKernelGetParamCount(kernel, out);
  });
}

cudaError_t cudaLaunchHostFunc_v2(cudaStream_t stream, cudaHostFn_t function, void* data,
                                  unsigned mode) {
  return call_context([&] { return driver.cuLaunchHostFunc_v2(stream, function, data, mode); });
}

}  // extern "C"

}  // namespace km::cudart
