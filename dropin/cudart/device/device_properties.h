// cudaDeviceProp of CUDA 12 and CUDA 13, filled in from the driver's attributes.
#pragma once

#include "dropin/cudart/frame/call.h"

namespace km::cudart {

// an array of one has a scalar's layout
#define KM_PROPERTY(type, name, count, attribute) type name[count];

struct cudaDeviceProp {  // of CUDA 13
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
#define KM_PROPERTY_12(type, name, count, attribute)
#define KM_PROPERTY_13(type, name, count, attribute) KM_PROPERTY(type, name, count, attribute)
#include "dropin/cudart/device/device_properties.def"
#undef KM_PROPERTY_12
#undef KM_PROPERTY_13
  int reserved[56];
};

struct DeviceProp12 {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
#define KM_PROPERTY_12(type, name, count, attribute) KM_PROPERTY(type, name, count, attribute)
#define KM_PROPERTY_13(type, name, count, attribute)
#include "dropin/cudart/device/device_properties.def"
#undef KM_PROPERTY_12
#undef KM_PROPERTY_13
  int reserved[63];
};
#undef KM_PROPERTY

/// Reads consecutive attributes. Attributes that the driver does not know are 0.
template <class Value, size_t kCount>
void fill_property(Value (&out)[kCount], CUdevice_attribute first, int device) {
  for (size_t i = 0; i < kCount; ++i) {
    int value = 0;
    const auto attribute = first + static_cast<CUdevice_attribute>(i);
    if (driver.cuDeviceGetAttribute(&value, attribute, device) != CUDA_SUCCESS) value = 0;
    out[i] = static_cast<Value>(value);
  }
}

/// Fills in all members except `luid`, which only devices on Windows have and which stays 0.
template <class Properties>
cudaError_t fill_common_properties(Properties* out, int device) {
  LIB_TRY(driver.cuDeviceGetName(out->name, sizeof out->name, device));
  LIB_TRY(driver.cuDeviceGetUuid_v2(&out->uuid, device));
  LIB_TRY(driver.cuDeviceTotalMem_v2(&out->totalGlobalMem, device));
#define KM_PROPERTY(type, name, count, attribute) \
  fill_property(out->name, CU_DEVICE_ATTRIBUTE_##attribute, device);
#define KM_PROPERTY_12(type, name, count, attribute)
#define KM_PROPERTY_13(type, name, count, attribute)
#include "dropin/cudart/device/device_properties.def"
#undef KM_PROPERTY
#undef KM_PROPERTY_12
#undef KM_PROPERTY_13
  return cudaSuccess;
}

/// Finds the device that matches a program's requested compute capability, multiprocessors and
/// memory best.
template <class Properties>
int property_matches(const Properties& wished, const Properties& there) {
  int points = 0;
  const auto prefers = [&](auto want, auto have) { points += want != 0 && have >= want ? 1 : 0; };
  prefers(wished.major[0], there.major[0]);
  if (wished.major[0] == there.major[0]) prefers(wished.minor[0], there.minor[0]);
  prefers(wished.multiProcessorCount[0], there.multiProcessorCount[0]);
  prefers(wished.totalGlobalMem, there.totalGlobalMem);
  prefers(wished.sharedMemPerBlock[0], there.sharedMemPerBlock[0]);
  prefers(wished.maxThreadsPerBlock[0], there.maxThreadsPerBlock[0]);
  prefers(wished.canMapHostMemory[0], there.canMapHostMemory[0]);
  return points;
}

/// Fills in a device's properties, including those that only one CUDA version has.
cudaError_t fill_properties(cudaDeviceProp* out, int device);
cudaError_t fill_properties(DeviceProp12* out, int device);

/// cudaChooseDevice: the best match; the first device if several match equally.
template <class Properties>
cudaError_t choose_by_properties(int* out, const Properties* wished) {
  LIB_REQUIRE(out);
  LIB_REQUIRE(wished);
  int count = 0, best = 0, most = -1;
  LIB_TRY(driver.cuDeviceGetCount(&count));
  if (count == 0) return cudaErrorNoDevice;
  for (int device = 0; device < count; ++device) {
    Properties there{};
    LIB_TRY(fill_properties(&there, device));
    const int points = property_matches(*wished, there);
    if (points > most) best = device;
    most = points > most ? points : most;
  }
  *out = best;
  return cudaSuccess;
}

}  // namespace km::cudart
