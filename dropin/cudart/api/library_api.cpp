// Libraries, code that programs load explicitly, and the driver's entry points.
#include <vector>

#include "dropin/cudart/device/context.h"
#include "dropin/cudart/frame/version.h"
#include "dropin/cudart/module/registry.h"

namespace km::cudart {

namespace {

cudaError_t entry_point(const char* name, void** out, unsigned version, unsigned long long flags,
                        cudaDriverEntryPointQueryResult* status) {
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult result =
      driver.cuGetProcAddress_v2(name, out, static_cast<int>(version), flags, &found);
  if (status != nullptr) *status = found;
  if (result != CUDA_SUCCESS || found == CU_GET_PROC_ADDRESS_SUCCESS) return result;
  return status != nullptr ? cudaSuccess : cudaErrorSymbolNotFound;
}

/// Kernels of a library are valid symbols until it is unloaded.
cudaError_t unload(CUlibrary library) {
  unsigned count = 0;
  std::vector<CUkernel> kernels;
  if (driver.cuLibraryGetKernelCount(&count, library) == CUDA_SUCCESS) {
    kernels.resize(count);
    if (driver.cuLibraryEnumerateKernels(kernels.data(), count, library) != CUDA_SUCCESS) {
      kernels.clear();
    }
  }
  LIB_TRY(driver.cuLibraryUnload(library));
  for (CUkernel kernel : kernels) Registry::instance().remove_kernel(kernel);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* out, const void* code, cudaJitOption* options,
                                void** values, unsigned count, cudaLibraryOption* library_options,
                                void** library_values, unsigned library_count) {
  return call_context([&] {
    return driver.cuLibraryLoadData(out, code, options, values, count, library_options,
                                    library_values, library_count);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* out, const char* path, cudaJitOption* options,
                                    void** values, unsigned count,
                                    cudaLibraryOption* library_options, void** library_values,
                                    unsigned library_count) {
  return call_context([&] {
    return driver.cuLibraryLoadFromFile(out, path, options, values, count, library_options,
                                        library_values, library_count);
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return call_context([&] { return unload(library); });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* out, cudaLibrary_t library, const char* name) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUkernel kernel = nullptr;
    LIB_TRY(driver.cuLibraryGetKernel(&kernel, library, name));
    Registry::instance().add_kernel(kernel);
    *out = kernel;
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* out, cudaLibrary_t library) {
  return call_context([&] { return driver.cuLibraryGetKernelCount(out, library); });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* out, unsigned count, cudaLibrary_t library) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    unsigned there = 0;
    LIB_TRY(driver.cuLibraryGetKernelCount(&there, library));
    LIB_TRY(driver.cuLibraryEnumerateKernels(out, count, library));
    for (unsigned i = 0; i < count && i < there; ++i) Registry::instance().add_kernel(out[i]);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetGlobal(void** out, size_t* size_bytes, cudaLibrary_t library,
                                 const char* name) {
  return call_context([&]() -> cudaError_t {
    CUdeviceptr address = 0;
    LIB_TRY(driver.cuLibraryGetGlobal(&address, size_bytes, library, name));
    if (out != nullptr) *out = host_address(address);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetManaged(void** out, size_t* size_bytes, cudaLibrary_t library,
                                  const char* name) {
  return call_context([&]() -> cudaError_t {
    CUdeviceptr address = 0;
    LIB_TRY(driver.cuLibraryGetManaged(&address, size_bytes, library, name));
    if (out != nullptr) *out = host_address(address);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetUnifiedFunction(void** out, cudaLibrary_t library, const char* name) {
  return call_context([&] { return driver.cuLibraryGetUnifiedFunction(out, library, name); });
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return call_driver([&] { return entry_point(name, out, version, flags, status); });
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** out, unsigned version,
                                                  unsigned long long flags,
                                                  cudaDriverEntryPointQueryResult* status) {
  if (flags == cudaEnableDefault) flags = cudaEnablePerThreadDefaultStream;
  return cudaGetDriverEntryPointByVersion(name, out, version, flags, status);
}

cudaError_t cudaGetDriverEntryPoint(const char* name, void** out, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  const auto version = static_cast<unsigned>(kRuntimeVersion);
  return cudaGetDriverEntryPointByVersion(name, out, version, flags, status);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char* name, void** out, unsigned long long flags,
                                         cudaDriverEntryPointQueryResult* status) {
  const auto version = static_cast<unsigned>(kRuntimeVersion);
  return cudaGetDriverEntryPointByVersion_ptsz(name, out, version, flags, status);
}

cudaError_t cudaGetExportTable(const void** table, const cudaUUID_t* id) {
  return call_driver([&] { return driver.cuGetExportTable(table, id); });
}

cudaError_t cudaProfilerStart() {
  return call_context([] { return driver.cuProfilerStart(); });
}

cudaError_t cudaProfilerStop() {
  return call_context([] { return driver.cuProfilerStop(); });
}

}  // extern "C"

}  // namespace km::cudart
