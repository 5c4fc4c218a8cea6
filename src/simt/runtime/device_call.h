// The call by which the device runtime (libcudadevrt's functions, which are PTX here) reaches the
// engine: `.func (.param .b64 result) km_device_call (.param .b32 function, .param .b64 word0,
// ...)`.
#pragma once

#include <cstdint>

#include "simt/runtime/image.h"

namespace km::simt {

/// Words that each call passes beside the number of its function.
constexpr uint32_t kDeviceCallWords = 10;

/// ImageRuntime with the entry for the device runtime.
struct DeviceRuntime {
  ImageRuntime base;
  /// One thread's call; both the functions and what words mean are the runtime's own.
  uint64_t (*call)(const LaunchRecord*, BlockState*, uint32_t function, const uint64_t* words,
                   uint32_t thread);
};

}  // namespace km::simt
