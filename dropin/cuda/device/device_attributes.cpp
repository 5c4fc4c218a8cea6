#include "dropin/cuda/device/device_attributes.h"

#include <algorithm>
#include <climits>

namespace km::dropin {
namespace {

/// True for features that this library implements on top of the CPU backend, which reports them as
/// absent.
bool is_of_this_library(CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
    case CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES:  // a bit set: 1 is file descriptors
      return true;
    default:
      return false;
  }
}

}  // namespace

CUresult device_attribute(DeviceState& device, CUdevice_attribute attribute, int* out) {
  if (attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) {
    return fail(CUDA_ERROR_INVALID_VALUE, "there is no device attribute %d", attribute);
  }
  if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) {
    *out = static_cast<int>(device.index);
    return CUDA_SUCCESS;
  }
  if (is_of_this_library(attribute)) {
    *out = 1;
    return CUDA_SUCCESS;
  }
  CU_ASSIGN(const int64_t value, device.device->attribute(KM_DEVICE_ATTRIBUTE_CUDA + attribute));
  *out = static_cast<int>(std::min<int64_t>(value, INT_MAX));
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
