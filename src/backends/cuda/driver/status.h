// Converts the driver's results.
#pragma once

#include <string>

#include "backends/cuda/driver/driver.h"

namespace km::cuda {

/// True if the result makes the device's primary context unusable for the whole process.
bool is_fatal(cu::CUresult result);

/// The result in messages: "CUDA_ERROR_OUT_OF_MEMORY (2)".
std::string result_text(cu::CUresult result);

/// The error of a failed call, with the result as native code.
Error driver_error(Called called);

/// Checks calls that need no context.
inline Status check(Called called) {
  if (called.ok()) [[likely]]
    return {};
  return driver_error(called);
}

/// Logs the failure of a destroying call, whose caller returns nothing.
void check_destroyed(Called called);

}  // namespace km::cuda
