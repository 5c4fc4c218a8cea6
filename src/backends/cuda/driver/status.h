// The meaning of the driver's results here.
#pragma once

#include <string>

#include "backends/cuda/driver/driver.h"

namespace km::cuda {

/// After such a result the device's context is of no use any more, for anybody in the process.
bool is_fatal(cu::CUresult result);

/// "CUDA_ERROR_OUT_OF_MEMORY (2)".
std::string result_text(cu::CUresult result);

/// The error of a call that failed; the result is its native code.
Error driver_error(Called called);

/// For calls without a context.
inline Status check(Called called) {
  if (called.ok()) [[likely]]
    return {};
  return driver_error(called);
}

/// A destroying call: what fails is logged, because it returns nothing.
void check_destroyed(Called called);

}  // namespace km::cuda
