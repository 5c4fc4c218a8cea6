// The frame around every exported function of the CUDA runtime; device/context.h has the one for
// those that need a context. Numbers of the driver's results and of the runtime's errors agree
// wherever both have a name.
#pragma once

#include "dropin/cudart/frame/driver.h"
#include "dropin/cudart/frame/errors.h"
#include "dropin/cudart/frame/last_error.h"
#include "dropin/frame/call.h"

namespace km::cudart {

/// The runtime for the frame of its functions. Its failures are the driver's, which shows them.
struct RuntimeLibrary : frame::Library {
  using Status = cudaError_t;
  static constexpr Status kOutOfMemory = cudaErrorMemoryAllocation;
  static constexpr Status kUnexpected = cudaErrorUnknown;
  static constexpr bool kShowsFailures = false;
  static const char* name_of(cudaError_t error) noexcept { return error_name(error); }
};

/// Runs the body of an exported function.
template <class Body>
cudaError_t call(Body&& body, const char* function = __builtin_FUNCTION()) {
  const cudaError_t result = frame::call<RuntimeLibrary>(function, body);
  return result == cudaSuccess ? result : record(result);
}

/// A call with the driver loaded, but no context.
template <class Body>
cudaError_t call_driver(Body&& body, const char* function = __builtin_FUNCTION()) {
  const auto with_driver = [&]() -> cudaError_t {
    LIB_TRY(load_driver());
    return body();
  };
  return call(with_driver, function);
}

/// Fails because an argument is wrong, and logs why. cudaErrorInvalidValue.
[[gnu::format(printf, 1, 2)]] cudaError_t invalid(const char* format, ...) noexcept;

}  // namespace km::cudart
