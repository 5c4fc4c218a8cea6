// The frame around every exported function of the CUDA runtime: the context that it needs, the last
// error of the thread. Numbers of the driver's results and of the runtime's errors agree wherever
// both have a name.
#pragma once

#include <cxxabi.h>

#include <new>

#include "dropin/cudart/device/context.h"
#include "dropin/cudart/driver.h"

namespace km::cudart {

/// Remembers a failure as the thread's last error; numbers that the runtime does not have become
/// cudaErrorUnknown. Gives the error.
cudaError_t record(cudaError_t error) noexcept;

/// Runs the body of an exported function.
template <class Body>
cudaError_t call(Body&& body) {
  cudaError_t result = cudaErrorUnknown;
  try {
    result = body();
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread ends: cancelled inside the driver
  } catch (const std::bad_alloc&) {
    result = cudaErrorMemoryAllocation;
  } catch (...) {
    result = cudaErrorUnknown;
  }
  return result == cudaSuccess ? result : record(result);
}

/// A call with the driver loaded, but no context.
template <class Body>
cudaError_t call_driver(Body&& body) {
  return call([&]() -> cudaError_t {
    const cudaError_t loaded = load_driver();
    return loaded == cudaSuccess ? body() : loaded;
  });
}

/// A call with a context current: the thread's device gets its primary one if there is none.
template <class Body>
cudaError_t call_context(Body&& body) {
  return call([&]() -> cudaError_t {
    const cudaError_t entered = enter_context();
    return entered == cudaSuccess ? body() : entered;
  });
}

}  // namespace km::cudart

/// Returns what is not cudaSuccess from the enclosing function.
#define RT_TRY(expression)                                        \
  do {                                                            \
    if (const ::km::cudart::cudaError_t rt_result = (expression); \
        rt_result != ::km::cudart::cudaSuccess) {                 \
      return rt_result;                                           \
    }                                                             \
  } while (0)

/// cudaErrorInvalidValue where a pointer argument is null.
#define RT_REQUIRE(pointer) \
  if ((pointer) == nullptr) return ::km::cudart::cudaErrorInvalidValue
