// Errors of captures, with CUDA's codes.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace km::capturing {

// Results of the CUDA driver, which errors have as their native code.
inline constexpr int64_t kInvalidValue = 1, kIllegalState = 401, kUnsupported = 900,
                         kInvalidated = 901, kMerge = 902, kUnmatched = 903, kUnjoined = 904,
                         kIsolation = 905, kCapturedEvent = 907;

/// An error whose native code is a result of the CUDA driver.
template <class... Arguments>
Error capture_error(int64_t native_code, km_status status, const char* format,
                    Arguments... arguments) {
  Error error = make_error(status, format, arguments...);
  error.native_code = native_code;
  return error;
}

/// The error of a call on a capture that an earlier call has invalidated.
inline Error invalidated() {
  return capture_error(kInvalidated, KM_ERROR_CAPTURE_INVALIDATED, "%s",
                       "an earlier call has invalidated this capture; end it with "
                       "km_stream_end_capture and begin again");
}

}  // namespace km::capturing
