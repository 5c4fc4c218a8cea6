// Pools of stream-ordered memory.
#include "dropin/cudart/device/context.h"

namespace km::cudart {

extern "C" {

cudaError_t cudaMallocFromPoolAsync(void** out, size_t size_bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUdeviceptr address = 0;
    if (size_bytes != 0) {
      LIB_TRY(driver.cuMemAllocFromPoolAsync(&address, size_bytes, pool, stream));
    }
    *out = host_address(address);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* out, int device) {
  return call_driver([&] { return driver.cuDeviceGetDefaultMemPool(out, device); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* out, int device) {
  return call_driver([&] { return driver.cuDeviceGetMemPool(out, device); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return call_driver([&] { return driver.cuDeviceSetMemPool(device, pool); });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* out, const cudaMemPoolProps* properties) {
  return call_driver([&] { return driver.cuMemPoolCreate(out, properties); });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call_driver([&] { return driver.cuMemPoolDestroy(pool); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t kept_bytes) {
  return call_driver([&] { return driver.cuMemPoolTrimTo(pool, kept_bytes); });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call_driver([&] { return driver.cuMemPoolGetAttribute(pool, attribute, value); });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call_driver([&] { return driver.cuMemPoolSetAttribute(pool, attribute, value); });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* out, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  return call_driver([&] { return driver.cuMemPoolGetAccess(out, pool, location); });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses,
                                 size_t count) {
  return call_driver([&] { return driver.cuMemPoolSetAccess(pool, accesses, count); });
}

cudaError_t cudaMemPoolExportToShareableHandle(void* out, cudaMemPool_t pool,
                                               cudaMemAllocationHandleType type, unsigned flags) {
  return call_driver(
      [&] { return driver.cuMemPoolExportToShareableHandle(out, pool, type, flags); });
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* out, void* handle,
                                                 cudaMemAllocationHandleType type, unsigned flags) {
  return call_driver(
      [&] { return driver.cuMemPoolImportFromShareableHandle(out, handle, type, flags); });
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* out, void* pointer) {
  return call_driver([&] { return driver.cuMemPoolExportPointer(out, device_address(pointer)); });
}

cudaError_t cudaMemPoolImportPointer(void** out, cudaMemPool_t pool,
                                     cudaMemPoolPtrExportData* data) {
  return call_driver([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUdeviceptr address = 0;
    LIB_TRY(driver.cuMemPoolImportPointer(&address, pool, data));
    *out = host_address(address);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return call_driver([&] { return driver.cuDeviceGraphMemTrim(device); });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return call_driver([&] { return driver.cuDeviceGetGraphMemAttribute(device, attribute, value); });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return call_driver([&] { return driver.cuDeviceSetGraphMemAttribute(device, attribute, value); });
}

}  // extern "C"

}  // namespace km::cudart
