// The frame around every exported function of the CUDA runtime; device/context.h has the frame for
// functions that need a context. The driver's results and the runtime's errors have equal numbers
// if both have a name for them.
#pragma once

#include "dropin/cudart/frame/driver.h"
#include "dropin/cudart/frame/errors.h"
#include "dropin/cudart/frame/last_error.h"
#include "dropin/frame/call.h"

namespace km::cudart {

/// Describes the runtime to the shared frame. Its failures come from the driver, which shows them.
struct RuntimeLibrary : frame::Library {
  using Status = cudaError_t;
  static constexpr Status kOutOfMemory = cudaErrorMemoryAllocation;
  static constexpr Status kUnexpected = cudaErrorUnknown;
  static constexpr bool kShowsFailures = false;
  static const char* name_of(cudaError_t error) noexcept { return error_name(error); }
};

/// Runs the body of an exported function and records its failure as the thread's last error.
template <class Body>
cudaError_t call(Body&& body, const char* function = __builtin_FUNCTION()) {
  const cudaError_t result = frame::call<RuntimeLibrary>(function, body);
  return result == cudaSuccess ? result : record(result);
}

/// Runs the body of a function that needs the driver but no context.
template <class Body>
cudaError_t call_driver(Body&& body, const char* function = __builtin_FUNCTION()) {
  const auto with_driver = [&]() -> cudaError_t {
    LIB_TRY(load_driver());
    return body();
  };
  return call(with_driver, function);
}

/// Logs why an argument is invalid and returns cudaErrorInvalidValue.
inline constexpr frame::Failure<cudaErrorInvalidValue> invalid;

}  // namespace km::cudart
