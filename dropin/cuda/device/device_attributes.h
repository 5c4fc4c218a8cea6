// Device attributes by CUDA's numbers.
#pragma once

#include "dropin/cuda/device/driver_state.h"

namespace km::dropin {

CUresult device_attribute(DeviceState& device, CUdevice_attribute attribute, int* out);

}  // namespace km::dropin
