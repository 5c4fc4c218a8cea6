#include "dropin/cuda/device_attributes.h"

#include <algorithm>
#include <climits>

namespace km::dropin {

CUresult device_attribute(DeviceState& device, CUdevice_attribute attribute, int* out) {
  if (attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) {
    return fail(CUDA_ERROR_INVALID_VALUE, "there is no device attribute %d", attribute);
  }
  if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) {
    *out = device.ordinal;
    return CUDA_SUCCESS;
  }
  CU_ASSIGN(const int64_t value, device.device->attribute(KM_DEVICE_ATTRIBUTE_CUDA + attribute));
  *out = static_cast<int>(std::min<int64_t>(value, INT_MAX));
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
