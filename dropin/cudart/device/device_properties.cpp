#include "dropin/cudart/device/device_properties.h"

namespace km::cudart {

#define KM_PROPERTY(type, name, count, attribute)

cudaError_t fill_properties(cudaDeviceProp* out, int device) {
#define KM_PROPERTY_12(type, name, count, attribute)
#define KM_PROPERTY_13(type, name, count, attribute) \
  fill_property(out->name, CU_DEVICE_ATTRIBUTE_##attribute, device);
#include "dropin/cudart/device/device_properties.def"
#undef KM_PROPERTY_12
#undef KM_PROPERTY_13
  return fill_common_properties(out, device);
}

cudaError_t fill_properties(DeviceProp12* out, int device) {
#define KM_PROPERTY_12(type, name, count, attribute) \
  fill_property(out->name, CU_DEVICE_ATTRIBUTE_##attribute, device);
#define KM_PROPERTY_13(type, name, count, attribute)
#include "dropin/cudart/device/device_properties.def"
#undef KM_PROPERTY_12
#undef KM_PROPERTY_13
  return fill_common_properties(out, device);
}

#undef KM_PROPERTY

}  // namespace km::cudart
