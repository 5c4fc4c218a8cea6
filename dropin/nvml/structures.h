// The structures of the implemented part of NVML's ABI.
#pragma once

#include "dropin/nvml/generated/api.h"

extern "C" {

/// The header declares it together with a second name, nvmlProcessInfo_t, which the generated table
/// takes for a structure of its own.
struct nvmlProcessInfo_v2_t {
  unsigned int pid;
  unsigned long long usedGpuMemory;
  unsigned int gpuInstanceId, computeInstanceId;
};
struct nvmlProcessInfo_t : nvmlProcessInfo_v2_t {};

/// The value is eight bytes, of the type that the type's number says.
struct nvmlFieldValue_t {
  unsigned fieldId, scopeId;
  long long timestamp, latencyUsec;
  int valueType;
  nvmlReturn_t nvmlReturn;
  unsigned long long value;
};

}  // extern "C"
