// The list of device attributes: Kernelmill's own and CUDA's.
#pragma once

#include <cstdint>

#include "kernelmill/c_api.h"

namespace km {

uint32_t device_attribute_count();
/// Name, unit and number of the attribute at an index below device_attribute_count().
km_device_attribute_info device_attribute_info(uint32_t index);
bool is_device_attribute(km_device_attribute attribute);
/// The attribute to ask backends for: CUDA's if one has this meaning.
km_device_attribute backend_attribute(km_device_attribute attribute);

}  // namespace km
