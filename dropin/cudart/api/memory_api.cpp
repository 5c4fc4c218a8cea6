// Allocation of device, pitched, page-locked, managed and stream-ordered memory.
#include <cstring>

#include "dropin/cudart/device/context.h"
#include "dropin/cudart/frame/version.h"

namespace km::cudart {

namespace {

constexpr unsigned kElementBytes = 4;  // element size for which pitches are chosen

cudaError_t allocate(void** out, size_t size_bytes) {
  LIB_REQUIRE(out);
  CUdeviceptr address = 0;
  if (size_bytes != 0) LIB_TRY(driver.cuMemAlloc_v2(&address, size_bytes));
  *out = host_address(address);
  return cudaSuccess;
}

cudaError_t allocate_rows(void** out, size_t* pitch_bytes, size_t width_bytes, size_t rows) {
  CUdeviceptr address = 0;
  size_t pitch = 0;
  if (width_bytes != 0 && rows != 0) {
    LIB_TRY(driver.cuMemAllocPitch_v2(&address, &pitch, width_bytes, rows, kElementBytes));
  }
  *out = host_address(address);
  *pitch_bytes = pitch;
  return cudaSuccess;
}

cudaError_t allocate_host(void** out, size_t size_bytes, unsigned flags) {
  LIB_REQUIRE(out);
  void* memory = nullptr;
  if (size_bytes != 0) LIB_TRY(driver.cuMemHostAlloc(&memory, size_bytes, flags));
  *out = memory;
  return cudaSuccess;
}

cudaError_t read_attributes(const void* pointer, cudaPointerAttributes* out) {
  CUmemorytype type = 0;
  int ordinal = 0;
  unsigned managed = 0;
  void *device_pointer = nullptr, *host_pointer = nullptr;
  CUpointer_attribute which[] = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
      CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
      CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* values[] = {&type, &ordinal, &managed, &device_pointer, &host_pointer};
  constexpr unsigned kCount = sizeof which / sizeof which[0];
  LIB_TRY(driver.cuPointerGetAttributes(kCount, which, values, device_address(pointer)));
  constexpr int kNoDevice = -2;  // cudaInvalidDeviceId
  const bool is_known = type != 0;
  out->type = managed != 0                 ? cudaMemoryTypeManaged
              : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
              : is_known                   ? cudaMemoryTypeDevice
                                           : cudaMemoryTypeUnregistered;
  out->device = is_known ? ordinal : kNoDevice;
  out->devicePointer = is_known ? device_pointer : nullptr;
  out->hostPointer = is_known ? host_pointer : const_cast<void*>(pointer);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** out, size_t size_bytes) {
  return call_context([&] { return allocate(out, size_bytes); });
}

cudaError_t cudaFree(void* address) {
  return call_context([&]() -> cudaError_t {
    if (address == nullptr) return cudaSuccess;
    return driver.cuMemFree_v2(device_address(address));
  });
}

cudaError_t cudaMallocPitch(void** out, size_t* pitch_bytes, size_t width_bytes, size_t height) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    LIB_REQUIRE(pitch_bytes);
    return allocate_rows(out, pitch_bytes, width_bytes, height);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    size_t rows = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return cudaErrorInvalidValue;
    cudaPitchedPtr made{nullptr, 0, extent.width, extent.height};
    LIB_TRY(allocate_rows(&made.ptr, &made.pitch, extent.width, rows));
    *out = made;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void** out, size_t size_bytes) {
  return call_context([&] { return allocate_host(out, size_bytes, 0); });
}

cudaError_t cudaHostAlloc(void** out, size_t size_bytes, unsigned flags) {
  return call_context([&] { return allocate_host(out, size_bytes, flags); });
}

cudaError_t cudaFreeHost(void* memory) {
  return call_context([&]() -> cudaError_t {
    return memory != nullptr ? driver.cuMemFreeHost(memory) : CUresult{CUDA_SUCCESS};
  });
}

cudaError_t cudaHostRegister(void* memory, size_t size_bytes, unsigned flags) {
  return call_context([&] { return driver.cuMemHostRegister_v2(memory, size_bytes, flags); });
}

cudaError_t cudaHostUnregister(void* memory) {
  return call_context([&] { return driver.cuMemHostUnregister(memory); });
}

cudaError_t cudaHostGetDevicePointer(void** out, void* memory, unsigned flags) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUdeviceptr address = 0;
    LIB_TRY(driver.cuMemHostGetDevicePointer_v2(&address, memory, flags));
    *out = host_address(address);
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* out, void* memory) {
  return call_context([&] { return driver.cuMemHostGetFlags(out, memory); });
}

cudaError_t cudaMallocManaged(void** out, size_t size_bytes, unsigned flags) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUdeviceptr address = 0;
    LIB_TRY(driver.cuMemAllocManaged(&address, size_bytes, flags));
    *out = host_address(address);
    return cudaSuccess;
  });
}

cudaError_t cudaMallocAsync(void** out, size_t size_bytes, cudaStream_t stream) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUdeviceptr address = 0;
    if (size_bytes != 0) LIB_TRY(driver.cuMemAllocAsync(&address, size_bytes, stream));
    *out = host_address(address);
    return cudaSuccess;
  });
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  return call_context([&]() -> cudaError_t {
    if (address == nullptr) return cudaSuccess;
    return driver.cuMemFreeAsync(device_address(address), stream);
  });
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return call_context([&] { return driver.cuMemGetInfo_v2(free_bytes, total_bytes); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    cudaPointerAttributes found{};
    LIB_TRY(read_attributes(pointer, &found));
    // CUDA 12's structure lacks `reserved`.
    std::memcpy(static_cast<void*>(out), &found,
                is_cuda_12() ? offsetof(cudaPointerAttributes, reserved) : sizeof found);
    return cudaSuccess;
  });
}

}  // extern "C"

}  // namespace km::cudart
