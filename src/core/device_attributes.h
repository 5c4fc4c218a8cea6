// The list of device attributes: ours, and CUDA's.
#pragma once

#include <cstdint>

#include "kernelmill/c_api.h"

namespace km {

uint32_t device_attribute_count();
/// Of the attribute at a place below device_attribute_count().
km_device_attribute_info device_attribute_info(uint32_t index);
bool is_device_attribute(km_device_attribute attribute);
/// The attribute that backends are asked for: CUDA's where there is one that means the same.
km_device_attribute backend_attribute(km_device_attribute attribute);

}  // namespace km
