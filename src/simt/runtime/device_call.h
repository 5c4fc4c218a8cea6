// The call from the device runtime (libcudadevrt's functions, which are PTX here) to the engine:
// `.func (.param .b64 result) km_device_call (.param .b32 function, .param .b64 word0, ...)`.
#pragma once

#include <cstdint>

#include "simt/runtime/image.h"

namespace km::simt {

/// The number of words that each call passes in addition to the function's number.
constexpr uint32_t kDeviceCallWords = 10;

/// Extends ImageRuntime by the entry for the device runtime.
struct DeviceRuntime {
  ImageRuntime base;
  /// Handles one thread's call; the runtime defines the functions and the meaning of their words.
  uint64_t (*call)(const LaunchRecord*, BlockState*, uint32_t function, const uint64_t* words,
                   uint32_t thread);
};

}  // namespace km::simt
