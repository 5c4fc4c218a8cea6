// The part of NVML's ABI that is implemented, and the frame of its functions.
#pragma once

#include <cstdint>

#include "dropin/library/driver.h"

extern "C" {

enum nvmlReturn_t : int32_t {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_UNKNOWN = 999
};
typedef struct nvmlDevice_st* nvmlDevice_t;
struct nvmlMemory_t {
  unsigned long long total, free, used;
};
struct nvmlMemory_v2_t {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct nvmlUtilization_t {
  unsigned gpu, memory;
};
/// The structure of nvmlDeviceGetPciInfo_v2; the first version has no pciSubSystemId.
struct nvmlPciInfo_v2_t {
  char busIdLegacy[16];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
};
struct nvmlPciInfo_t {
  char busIdLegacy[16];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
};

}  // extern "C"

namespace km::nvml {

using library::Driver;

/// nvmlInit has been called more often than nvmlShutdown.
bool is_initialized();

/// The driver's device of a handle.
nvmlReturn_t find_device(const Driver& driver, nvmlDevice_t handle, cu::CUdevice* out);
nvmlDevice_t handle_of(unsigned index);

nvmlReturn_t result_of(cu::CUresult result);

/// Copies text with its end, if there is room.
nvmlReturn_t give_text(const char* text, char* out, unsigned size_bytes);

/// A function that needs nvmlInit: the body gets the driver.
template <class Body>
nvmlReturn_t call(Body&& body) {
  if (!is_initialized()) return NVML_ERROR_UNINITIALIZED;
  const Driver* const driver = library::driver();
  return driver != nullptr ? body(*driver) : NVML_ERROR_DRIVER_NOT_LOADED;
}

/// A function of a device.
template <class Body>
nvmlReturn_t call_device(nvmlDevice_t handle, Body&& body) {
  return call([&](const Driver& driver) -> nvmlReturn_t {
    cu::CUdevice device = 0;
    const nvmlReturn_t found = find_device(driver, handle, &device);
    return found == NVML_SUCCESS ? body(driver, device) : found;
  });
}

}  // namespace km::nvml

#define NVML_REQUIRE(pointer) \
  if ((pointer) == nullptr) return NVML_ERROR_INVALID_ARGUMENT
#define NVML_TRY(expression)                                                        \
  do {                                                                              \
    if (const nvmlReturn_t nvml_result = (expression); nvml_result != NVML_SUCCESS) \
      return nvml_result;                                                           \
  } while (0)
