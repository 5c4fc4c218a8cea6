// Initialisation, devices, contexts.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fake_cuda/queue.h"

namespace km::cu {
namespace {

bool is_device(CUdevice device) { return device >= 0 && device < device_count(); }

int attribute_value(CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 0x7FFFFFFF;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 227 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return 228 << 10;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      return 1 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return script_says("no-pools") ? 0 : 1;
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
      return script_says("pageable") ? 1 : 0;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
      return 1;
    case CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED:
      return script_says("pageable") || script_says("no-file-pages") ? 0 : 1;
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned int) {
  KM_FAKE_CALL(nothing);
  if (script_says("stub")) return CUDA_ERROR_STUB_LIBRARY;
  if (script_says("mismatch")) return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
  if (script_says("broken")) return CUDA_ERROR_UNKNOWN;
  return device_count() == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  KM_FAKE_CALL(nothing);
  *version = script_says("old") ? 11030 : 12040;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult result, const char** text) {
  *text = result == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : "the fake driver was told so";
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult result, const char** name) {
  switch (result) {
#define KM_CUDA_STATUS(status, result)
#define KM_CUDA_RESULT(value, name_, status) \
  case value:                                \
    *name = #name_;                          \
    return CUDA_SUCCESS;
#include "base/cuda/cuda_results.def"
#undef KM_CUDA_RESULT
#undef KM_CUDA_STATUS
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuDeviceGetCount(int* count) {
  KM_FAKE_CALL(nothing);
  *count = device_count();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  KM_FAKE_CALL(nothing);
  if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int capacity, CUdevice device) {
  KM_FAKE_CALL(nothing);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  // Tests skip what devices cannot show that do everything at once, those by the name of "Fake".
  std::snprintf(name, static_cast<size_t>(capacity), is_async() ? "Scripted" : "Fake");
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  KM_FAKE_CALL(nothing);
  *bytes = kTotalBytes;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  KM_FAKE_CALL(nothing);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *value = attribute_value(attribute);
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* can_access, CUdevice device, CUdevice peer) {
  KM_FAKE_CALL(nothing);
  *can_access = device != peer;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  KM_FAKE_CALL(nothing);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  Context& context = context_of(device);
  if (context.lost != CUDA_SUCCESS) return context.lost;
  context.device = device;
  context.is_active = true;
  ++context.retained;
  *out = handle_of(context);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  const Call call(__func__, Call::Needs::nothing);
  Context& context = context_of(device);
  if (context.retained == 0) return misuse(CUDA_ERROR_INVALID_CONTEXT, "release");
  if (--context.retained == 0) {
    // A context that failed takes all of its objects along; one that did not must have none left.
    if (context.sticky != CUDA_SUCCESS) drop_objects_of(device);
    context.is_active = false;
    context.sticky = CUDA_SUCCESS;
  }
  return call.result();
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  KM_FAKE_CALL(nothing);
  Context& context = context_of(device);
  drop_objects_of(device);
  context.sticky = CUDA_SUCCESS;
  context.is_active = context.retained != 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* out) {
  KM_FAKE_CALL(nothing);
  Context* context = current_context();
  *out = context != nullptr ? handle_of(*context) : nullptr;
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  KM_FAKE_CALL(nothing);
  Context* context = context_from(handle);
  if (context == nullptr) return misuse(CUDA_ERROR_INVALID_CONTEXT, __func__);
  push_context(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* out) {
  KM_FAKE_CALL(nothing);
  Context* context = pop_context();
  if (context == nullptr) return misuse(CUDA_ERROR_INVALID_CONTEXT, __func__);
  if (out != nullptr) *out = handle_of(*context);
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  KM_FAKE_CALL(context);
  call.unlock();
  wait_for_device(call.context().device);
  const std::lock_guard lock(state_mutex());
  return call.context().sticky;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  KM_FAKE_CALL(context);
  *least = 0;
  *greatest = -2;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  KM_FAKE_CALL(context);
  if (limit < 0 || limit >= kLimits) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = call.context().limits[limit];
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  KM_FAKE_CALL(context);
  if (limit < 0 || limit >= kLimits) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  if (value > kTotalBytes) return CUDA_ERROR_INVALID_VALUE;
  context_of(call.context().device).limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int) {
  KM_FAKE_CALL(context);
  return context_from(peer) != nullptr ? CUDA_SUCCESS
                                       : misuse(CUDA_ERROR_INVALID_CONTEXT, __func__);
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  KM_FAKE_CALL(context);
  return context_from(peer) != nullptr ? CUDA_SUCCESS
                                       : misuse(CUDA_ERROR_INVALID_CONTEXT, __func__);
}
}

}  // namespace km::cu
