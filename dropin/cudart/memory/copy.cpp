#include "dropin/cudart/memory/copy.h"

#include <algorithm>

#include "dropin/cudart/device/context.h"
#include "dropin/cudart/memory/array.h"
#include "dropin/cudart/module/registry.h"

namespace km::cudart {
namespace {

/// Calls the blocking function of the driver, or its asynchronous variant for a stream.
template <class Blocking, class Async, class... Arguments>
CUresult issue(Order order, Blocking legacy, Blocking per_thread, Async async,
               Arguments... arguments) {
  if (!order.is_blocking) return async(arguments..., order.stream);
  return (order.is_per_thread ? per_thread : legacy)(arguments...);
}

CUresult issue_box(Order order, const CUDA_MEMCPY3D* box) {
  return issue(order, driver.cuMemcpy3D_v2, driver.cuMemcpy3D_v2_ptds, driver.cuMemcpy3DAsync_v2,
               box);
}

cudaMemcpyKind kind_of(CUmemorytype source, CUmemorytype target) {
  if (source == CU_MEMORYTYPE_UNIFIED || target == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  if (source == CU_MEMORYTYPE_HOST) {
    return target == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  }
  return target == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

/// If a copy involves an array, its width and positions are in array elements, otherwise in bytes.
cudaError_t element_size(const cudaMemcpy3DParms& copy, size_t* source_bytes, size_t* target_bytes,
                         size_t* width_bytes) {
  *source_bytes = *target_bytes = *width_bytes = 1;
  if (copy.srcArray != nullptr) LIB_TRY(element_bytes(copy.srcArray, source_bytes));
  if (copy.dstArray != nullptr) LIB_TRY(element_bytes(copy.dstArray, target_bytes));
  *width_bytes = copy.srcArray != nullptr ? *source_bytes : *target_bytes;
  const bool both = copy.srcArray != nullptr && copy.dstArray != nullptr;
  return both && *source_bytes != *target_bytes ? cudaErrorInvalidValue : cudaSuccess;
}

/// Converts elements to bytes; returns false if the product overflows.
bool to_bytes(size_t elements, size_t element_bytes, size_t* out) {
  return !__builtin_mul_overflow(elements, element_bytes, out);
}

CUDA_MEMCPY3D array_box(size_t width_bytes, size_t height) {
  CUDA_MEMCPY3D box{};
  box.WidthInBytes = width_bytes;
  box.Height = height;
  box.Depth = 1;
  return box;
}

void set_source(CUDA_MEMCPY3D* box, ArrayPlace place) {
  box->srcMemoryType = CU_MEMORYTYPE_ARRAY;
  box->srcArray = const_cast<CUarray>(place.array);
  box->srcXInBytes = place.x_bytes;
  box->srcY = place.y;
}

void set_target(CUDA_MEMCPY3D* box, ArrayPlace place) {
  box->dstMemoryType = CU_MEMORYTYPE_ARRAY;
  box->dstArray = const_cast<CUarray>(place.array);
  box->dstXInBytes = place.x_bytes;
  box->dstY = place.y;
}

/// A pitch lies between rows, so that of a single row is not used: programs pass any number.
/// NVIDIA's samples do (cusolver_irs_expert), and its runtime accepts it.
size_t used_pitch(size_t pitch_bytes, size_t width_bytes, size_t height) {
  return height == 1 ? std::max(pitch_bytes, width_bytes) : pitch_bytes;
}

}  // namespace

cudaError_t copy_kinds(cudaMemcpyKind kind, CopyKinds* out) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      *out = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST};
      return cudaSuccess;
    case cudaMemcpyHostToDevice:
      *out = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE};
      return cudaSuccess;
    case cudaMemcpyDeviceToHost:
      *out = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST};
      return cudaSuccess;
    case cudaMemcpyDeviceToDevice:
      *out = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE};
      return cudaSuccess;
    case cudaMemcpyDefault:
      *out = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED};
      return cudaSuccess;
    default:
      return cudaErrorInvalidMemcpyDirection;
  }
}

cudaError_t copy(void* target, const void* source, size_t size_bytes, cudaMemcpyKind kind,
                 Order order) {
  if (size_bytes == 0 && order.is_blocking) return cudaSuccess;
  const CUdeviceptr to = device_address(target), from = device_address(source);
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return issue(order, driver.cuMemcpyHtoD_v2, driver.cuMemcpyHtoD_v2_ptds,
                   driver.cuMemcpyHtoDAsync_v2, to, source, size_bytes);
    case cudaMemcpyDeviceToHost:
      return issue(order, driver.cuMemcpyDtoH_v2, driver.cuMemcpyDtoH_v2_ptds,
                   driver.cuMemcpyDtoHAsync_v2, target, from, size_bytes);
    case cudaMemcpyDeviceToDevice:
      return issue(order, driver.cuMemcpyDtoD_v2, driver.cuMemcpyDtoD_v2_ptds,
                   driver.cuMemcpyDtoDAsync_v2, to, from, size_bytes);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return issue(order, driver.cuMemcpy, driver.cuMemcpy_ptds, driver.cuMemcpyAsync, to, from,
                   size_bytes);
    default:
      return cudaErrorInvalidMemcpyDirection;
  }
}

cudaError_t copy_rows(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                      size_t width_bytes, size_t height, cudaMemcpyKind kind, Order order) {
  CopyKinds kinds{};
  LIB_TRY(copy_kinds(kind, &kinds));
  target_pitch = used_pitch(target_pitch, width_bytes, height);
  source_pitch = used_pitch(source_pitch, width_bytes, height);
  if (width_bytes > target_pitch || width_bytes > source_pitch) return cudaErrorInvalidPitchValue;
  if (width_bytes == 0 || height == 0) return cudaSuccess;
  CUDA_MEMCPY2D rows{};
  rows.srcMemoryType = kinds.source;
  rows.srcHost = source;
  rows.srcDevice = device_address(source);
  rows.srcPitch = source_pitch;
  rows.dstMemoryType = kinds.target;
  rows.dstHost = target;
  rows.dstDevice = device_address(target);
  rows.dstPitch = target_pitch;
  rows.WidthInBytes = width_bytes;
  rows.Height = height;
  const CUDA_MEMCPY2D* const given = &rows;
  return issue(order, driver.cuMemcpy2DUnaligned_v2, driver.cuMemcpy2DUnaligned_v2_ptds,
               driver.cuMemcpy2DAsync_v2, given);
}

cudaError_t driver_copy(const cudaMemcpy3DParms& copy, CUDA_MEMCPY3D* out) {
  CopyKinds kinds{};
  LIB_TRY(copy_kinds(copy.kind, &kinds));
  if ((copy.srcArray != nullptr) == (copy.srcPtr.ptr != nullptr) ||
      (copy.dstArray != nullptr) == (copy.dstPtr.ptr != nullptr)) {
    return cudaErrorInvalidValue;  // needs exactly one of the two
  }
  if ((copy.srcArray != nullptr && kinds.source == CU_MEMORYTYPE_HOST) ||
      (copy.dstArray != nullptr && kinds.target == CU_MEMORYTYPE_HOST)) {
    return cudaErrorInvalidMemcpyDirection;
  }
  size_t source_bytes = 0, target_bytes = 0, width_bytes = 0;
  LIB_TRY(element_size(copy, &source_bytes, &target_bytes, &width_bytes));
  CUDA_MEMCPY3D box{};
  if (!to_bytes(copy.srcPos.x, source_bytes, &box.srcXInBytes) ||
      !to_bytes(copy.dstPos.x, target_bytes, &box.dstXInBytes) ||
      !to_bytes(copy.extent.width, width_bytes, &box.WidthInBytes)) {
    return cudaErrorInvalidValue;
  }
  box.srcY = copy.srcPos.y;
  box.srcZ = copy.srcPos.z;
  box.srcMemoryType = copy.srcArray != nullptr ? CU_MEMORYTYPE_ARRAY : kinds.source;
  box.srcHost = copy.srcPtr.ptr;
  box.srcDevice = device_address(copy.srcPtr.ptr);
  box.srcArray = copy.srcArray;
  box.srcPitch = copy.srcPtr.pitch;
  box.srcHeight = copy.srcPtr.ysize;
  box.dstY = copy.dstPos.y;
  box.dstZ = copy.dstPos.z;
  box.dstMemoryType = copy.dstArray != nullptr ? CU_MEMORYTYPE_ARRAY : kinds.target;
  box.dstHost = copy.dstPtr.ptr;
  box.dstDevice = device_address(copy.dstPtr.ptr);
  box.dstArray = copy.dstArray;
  box.dstPitch = copy.dstPtr.pitch;
  box.dstHeight = copy.dstPtr.ysize;
  box.Height = copy.extent.height;
  box.Depth = copy.extent.depth;
  *out = box;
  return cudaSuccess;
}

cudaError_t runtime_copy(const CUDA_MEMCPY3D& box, cudaMemcpy3DParms* out) {
  cudaMemcpy3DParms copy{};
  const bool from_array = box.srcMemoryType == CU_MEMORYTYPE_ARRAY;
  const bool to_array = box.dstMemoryType == CU_MEMORYTYPE_ARRAY;
  if (from_array) copy.srcArray = box.srcArray;
  if (to_array) copy.dstArray = box.dstArray;
  size_t source_bytes = 0, target_bytes = 0, width_bytes = 0;
  LIB_TRY(element_size(copy, &source_bytes, &target_bytes, &width_bytes));
  const bool from_host = box.srcMemoryType == CU_MEMORYTYPE_HOST;
  const bool to_host = box.dstMemoryType == CU_MEMORYTYPE_HOST;
  void* const source = from_host ? const_cast<void*>(box.srcHost) : host_address(box.srcDevice);
  void* const target = to_host ? box.dstHost : host_address(box.dstDevice);
  if (!from_array) copy.srcPtr = {source, box.srcPitch, box.srcPitch, box.srcHeight};
  if (!to_array) copy.dstPtr = {target, box.dstPitch, box.dstPitch, box.dstHeight};
  copy.srcPos = {box.srcXInBytes / source_bytes, box.srcY, box.srcZ};
  copy.dstPos = {box.dstXInBytes / target_bytes, box.dstY, box.dstZ};
  copy.extent = {box.WidthInBytes / width_bytes, box.Height, box.Depth};
  copy.kind = kind_of(box.srcMemoryType, box.dstMemoryType);
  *out = copy;
  return cudaSuccess;
}

cudaMemcpy3DParms flat_copy(void* target, const void* source, size_t size_bytes,
                            cudaMemcpyKind kind) {
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {const_cast<void*>(source), size_bytes, size_bytes, 1};
  copy.dstPtr = {target, size_bytes, size_bytes, 1};
  copy.extent = {size_bytes, 1, 1};
  copy.kind = kind;
  return copy;
}

cudaError_t copy_box(const cudaMemcpy3DParms* copy, Order order) {
  LIB_REQUIRE(copy);
  CUDA_MEMCPY3D box{};
  LIB_TRY(driver_copy(*copy, &box));
  if (box.WidthInBytes == 0 || box.Height == 0 || box.Depth == 0) return cudaSuccess;
  return issue_box(order, &box);
}

cudaError_t copy_box(const cudaMemcpy3DPeerParms* copy, Order order) {
  LIB_REQUIRE(copy);
  const cudaMemcpy3DParms plain{
      copy->srcArray, copy->srcPos, copy->srcPtr, copy->dstArray,
      copy->dstPos,   copy->dstPtr, copy->extent, cudaMemcpyDeviceToDevice};
  CUDA_MEMCPY3D box{};
  LIB_TRY(driver_copy(plain, &box));
  CUDA_MEMCPY3D_PEER peer{};
  peer.srcXInBytes = box.srcXInBytes;
  peer.srcY = box.srcY;
  peer.srcZ = box.srcZ;
  peer.srcMemoryType = box.srcMemoryType;
  peer.srcDevice = box.srcDevice;
  peer.srcArray = box.srcArray;
  peer.srcPitch = box.srcPitch;
  peer.srcHeight = box.srcHeight;
  peer.dstXInBytes = box.dstXInBytes;
  peer.dstY = box.dstY;
  peer.dstZ = box.dstZ;
  peer.dstMemoryType = box.dstMemoryType;
  peer.dstDevice = box.dstDevice;
  peer.dstArray = box.dstArray;
  peer.dstPitch = box.dstPitch;
  peer.dstHeight = box.dstHeight;
  peer.WidthInBytes = box.WidthInBytes;
  peer.Height = box.Height;
  peer.Depth = box.Depth;
  LIB_TRY(primary_context(copy->srcDevice, &peer.srcContext));
  LIB_TRY(primary_context(copy->dstDevice, &peer.dstContext));
  const CUDA_MEMCPY3D_PEER* const given = &peer;
  return issue(order, driver.cuMemcpy3DPeer, driver.cuMemcpy3DPeer_ptds, driver.cuMemcpy3DPeerAsync,
               given);
}

cudaError_t copy_to_array(ArrayPlace target, const void* source, size_t pitch, size_t width_bytes,
                          size_t height, cudaMemcpyKind kind, Order order) {
  CopyKinds kinds{};
  LIB_TRY(check_device_kind(kind, cudaMemcpyHostToDevice));
  LIB_TRY(copy_kinds(kind, &kinds));
  CUDA_MEMCPY3D box = array_box(width_bytes, height);
  set_target(&box, target);
  box.srcMemoryType = kinds.source;
  box.srcHost = source;
  box.srcDevice = device_address(source);
  box.srcPitch = used_pitch(pitch, width_bytes, height);
  box.srcHeight = height;
  return issue_box(order, &box);
}

cudaError_t copy_from_array(void* target, size_t pitch, ArrayPlace source, size_t width_bytes,
                            size_t height, cudaMemcpyKind kind, Order order) {
  CopyKinds kinds{};
  LIB_TRY(check_device_kind(kind, cudaMemcpyDeviceToHost));
  LIB_TRY(copy_kinds(kind, &kinds));
  CUDA_MEMCPY3D box = array_box(width_bytes, height);
  set_source(&box, source);
  box.dstMemoryType = kinds.target;
  box.dstHost = target;
  box.dstDevice = device_address(target);
  box.dstPitch = used_pitch(pitch, width_bytes, height);
  box.dstHeight = height;
  return issue_box(order, &box);
}

cudaError_t copy_arrays(ArrayPlace target, ArrayPlace source, size_t width_bytes, size_t height,
                        Order order) {
  CUDA_MEMCPY3D box = array_box(width_bytes, height);
  set_source(&box, source);
  set_target(&box, target);
  return issue_box(order, &box);
}

cudaError_t symbol_part(const void* symbol, size_t offset_bytes, size_t size_bytes, void** out) {
  CUdeviceptr address = 0;
  size_t whole_bytes = 0;
  LIB_TRY(find_variable(symbol, &address, &whole_bytes));
  if (offset_bytes > whole_bytes || size_bytes > whole_bytes - offset_bytes) {
    return cudaErrorInvalidValue;
  }
  *out = host_address(address + offset_bytes);
  return cudaSuccess;
}

cudaError_t check_device_kind(cudaMemcpyKind kind, cudaMemcpyKind with_host) {
  const bool is_possible =
      kind == with_host || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
  return is_possible ? cudaSuccess : cudaErrorInvalidMemcpyDirection;
}

cudaError_t fill(void* target, int value, size_t size_bytes, Order order) {
  if (size_bytes == 0) return cudaSuccess;
  return issue(order, driver.cuMemsetD8_v2, driver.cuMemsetD8_v2_ptds, driver.cuMemsetD8Async,
               device_address(target), static_cast<unsigned char>(value), size_bytes);
}

cudaError_t fill_rows(void* target, size_t pitch, int value, size_t width_bytes, size_t height,
                      Order order) {
  if (width_bytes == 0 || height == 0) return cudaSuccess;
  pitch = used_pitch(pitch, width_bytes, height);
  if (width_bytes > pitch) return cudaErrorInvalidValue;
  return issue(order, driver.cuMemsetD2D8_v2, driver.cuMemsetD2D8_v2_ptds, driver.cuMemsetD2D8Async,
               device_address(target), pitch, static_cast<unsigned char>(value), width_bytes,
               height);
}

}  // namespace km::cudart
