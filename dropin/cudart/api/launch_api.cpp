// Kernel launches and attributes of kernels.
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/module/launch.h"
#include "dropin/cudart/module/registry.h"

namespace km::cudart {

namespace {

struct AttributeField {
  CUfunction_attribute attribute;
  int cudaFuncAttributes::* field;
};
constexpr AttributeField kAttributes[] = {
    {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &cudaFuncAttributes::maxThreadsPerBlock},
    {CU_FUNC_ATTRIBUTE_NUM_REGS, &cudaFuncAttributes::numRegs},
    {CU_FUNC_ATTRIBUTE_PTX_VERSION, &cudaFuncAttributes::ptxVersion},
    {CU_FUNC_ATTRIBUTE_BINARY_VERSION, &cudaFuncAttributes::binaryVersion},
    {CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, &cudaFuncAttributes::cacheModeCA},
    {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
     &cudaFuncAttributes::maxDynamicSharedSizeBytes},
    {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
     &cudaFuncAttributes::preferredShmemCarveout},
    {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, &cudaFuncAttributes::clusterDimMustBeSet},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, &cudaFuncAttributes::requiredClusterWidth},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, &cudaFuncAttributes::requiredClusterHeight},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, &cudaFuncAttributes::requiredClusterDepth},
    {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
     &cudaFuncAttributes::clusterSchedulingPolicyPreference},
    {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
     &cudaFuncAttributes::nonPortableClusterSizeAllowed},
};
struct SizeField {
  CUfunction_attribute attribute;
  size_t cudaFuncAttributes::* field;
};
constexpr SizeField kSizes[] = {
    {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &cudaFuncAttributes::sharedSizeBytes},
    {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &cudaFuncAttributes::constSizeBytes},
    {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &cudaFuncAttributes::localSizeBytes},
};

cudaError_t read_attributes(CUkernel kernel, CUdevice device, cudaFuncAttributes* out) {
  cudaFuncAttributes found{};
  for (const auto& [attribute, field] : kAttributes) {
    LIB_TRY(driver.cuKernelGetAttribute(&(found.*field), attribute, kernel, device));
  }
  for (const auto& [attribute, field] : kSizes) {
    int size_bytes = 0;
    LIB_TRY(driver.cuKernelGetAttribute(&size_bytes, attribute, kernel, device));
    found.*field = static_cast<size_t>(size_bytes);
  }
  *out = found;
  return cudaSuccess;
}

cudaError_t launch_extended(const cudaLaunchConfig_t* config, const void* symbol, void** arguments,
                            cudaStream_t stream) {
  LIB_REQUIRE(config);
  CUkernel kernel = nullptr;
  LIB_TRY(find_kernel(symbol, &kernel));
  CUlaunchConfig given{};
  LIB_TRY(driver_config(*config, &given));
  given.hStream = stream;
  return launch_result(driver.cuLaunchKernelEx(&given, as_function(kernel), arguments, nullptr),
                       config->gridDim, config->blockDim);
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* symbol, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  return call_context([&]() -> cudaError_t {
    CUkernel kernel = nullptr;
    LIB_TRY(find_kernel(symbol, &kernel));
    if (shared_bytes > UINT32_MAX) return cudaErrorInvalidValue;
    const CUresult result = driver.cuLaunchKernel(
        as_function(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
        static_cast<unsigned>(shared_bytes), stream, arguments, nullptr);
    return launch_result(result, grid, block);
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* symbol, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream) {
  return call_context([&]() -> cudaError_t {
    CUkernel kernel = nullptr;
    LIB_TRY(find_kernel(symbol, &kernel));
    if (shared_bytes > UINT32_MAX) return cudaErrorInvalidValue;
    const CUresult result = driver.cuLaunchCooperativeKernel(
        as_function(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
        static_cast<unsigned>(shared_bytes), stream, arguments);
    return launch_result(result, grid, block);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* symbol,
                                void** arguments) {
  return call_context([&] {
    return launch_extended(config, symbol, arguments, config != nullptr ? config->stream : nullptr);
  });
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* symbol,
                                     void** arguments) {
  return call_context([&] {
    return launch_extended(config, symbol, arguments,
                           per_thread(config != nullptr ? config->stream : nullptr));
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call_context([&] { return driver.cuLaunchHostFunc(stream, function, data); });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, const void* symbol) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUkernel kernel = nullptr;
    LIB_TRY(find_kernel(symbol, &kernel));
    int device = 0;
    LIB_TRY(current_device(&device));
    return read_attributes(kernel, device, out);
  });
}

cudaError_t cudaFuncSetAttribute(const void* symbol, cudaFuncAttribute attribute, int value) {
  return call_context([&]() -> cudaError_t {
    CUkernel kernel = nullptr;
    LIB_TRY(find_kernel(symbol, &kernel));
    int device = 0;
    LIB_TRY(current_device(&device));
    return driver.cuKernelSetAttribute(attribute, value, kernel, device);
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int device) {
  return call_driver([&]() -> cudaError_t {
    CUkernel known = nullptr;
    LIB_TRY(find_kernel(kernel, &known));
    return driver.cuKernelSetAttribute(attribute, value, known, device);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* symbol, cudaFuncCache config) {
  return call_context([&]() -> cudaError_t {
    CUkernel kernel = nullptr;
    LIB_TRY(find_kernel(symbol, &kernel));
    int device = 0;
    LIB_TRY(current_device(&device));
    return driver.cuKernelSetCacheConfig(kernel, config, device);
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* symbol, cudaSharedMemConfig config) {
  return call_context([&]() -> cudaError_t {
    CUfunction function = nullptr;
    LIB_TRY(find_function(symbol, &function));
    return driver.cuFuncSetSharedMemConfig(function, config);
  });
}

cudaError_t cudaFuncGetName(const char** out, const void* symbol) {
  return call_context([&]() -> cudaError_t {
    CUkernel kernel = nullptr;
    LIB_TRY(find_kernel(symbol, &kernel));
    return driver.cuKernelGetName(out, kernel);
  });
}

cudaError_t cudaFuncGetParamInfo(const void* symbol, size_t index, size_t* offset_bytes,
                                 size_t* size_bytes) {
  return call_context([&]() -> cudaError_t {
    CUkernel kernel = nullptr;
    LIB_TRY(find_kernel(symbol, &kernel));
    return driver.cuKernelGetParamInfo(kernel, index, offset_bytes, size_bytes);
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* out, const void* symbol) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUkernel kernel = nullptr;
    LIB_TRY(find_kernel(symbol, &kernel));
    Registry::instance().add_kernel(kernel);
    *out = kernel;
    return cudaSuccess;
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* out, const void* symbol) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    return find_function(symbol, out);
  });
}

}  // extern "C"

}  // namespace km::cudart
