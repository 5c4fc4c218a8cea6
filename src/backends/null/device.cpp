#include <cstdio>

#include "backends/null/entries.h"

namespace km::null {
namespace {

// A real backend has its own type with the device's state instead.
char g_device;

}  // namespace

km_status device_count(uint32_t* out_count, kmb_error*) {
  *out_count = 1;
  return KM_SUCCESS;
}

km_status device_open(uint32_t, kmb_device** out_device, kmb_error*) {
  *out_device = reinterpret_cast<kmb_device*>(&g_device);
  return KM_SUCCESS;
}

void device_close(kmb_device*) {}

km_status device_info(kmb_device*, km_device_info* out_info, kmb_error*) {
  *out_info = {};
  out_info->struct_size = sizeof *out_info;
  std::snprintf(out_info->name, sizeof out_info->name, "Null device (runs nothing)");
  return KM_SUCCESS;
}

km_status device_attribute(kmb_device*, km_device_attribute, int64_t*, kmb_error* error) {
  return unsupported("device attributes", error);
}

km_status device_can_access_peer(kmb_device*, kmb_device*, uint32_t* out_can_access, kmb_error*) {
  *out_can_access = 0;
  return KM_SUCCESS;
}

}  // namespace km::null
