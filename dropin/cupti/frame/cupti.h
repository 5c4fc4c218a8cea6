// The frame around CUPTI's functions, and the names of its results.
#pragma once

#include "dropin/cupti/generated/api.h"
#include "dropin/library/call.h"
#include "dropin/library/host_memory.h"

namespace km::cupti {

/// A result's name, such as "CUPTI_SUCCESS"; null if the number is none.
const char* result_name(CUptiResult result) noexcept;

/// Describes CUPTI to the shared frame.
struct CuptiLibrary : frame::Library {
  using Status = CUptiResult;
  static constexpr Status kOutOfMemory = CUPTI_ERROR_OUT_OF_MEMORY;
  static constexpr Status kUnexpected = CUPTI_ERROR_UNKNOWN;
  static constexpr Status kNotSupported = CUPTI_ERROR_NOT_SUPPORTED;
  static constexpr Status kNotInitialized = CUPTI_ERROR_NOT_INITIALIZED;
  static constexpr frame::StatusOfResult<Status> kStatuses[] = {
      {cu::CUDA_SUCCESS, CUPTI_SUCCESS},
      {cu::CUDA_ERROR_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY},
      {cu::CUDA_ERROR_INVALID_CONTEXT, CUPTI_ERROR_INVALID_CONTEXT},
      {cu::CUDA_ERROR_INVALID_HANDLE, CUPTI_ERROR_INVALID_STREAM},
      {cu::CUDA_ERROR_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED},
  };
  static constexpr Status kOtherStatus = CUPTI_ERROR_UNKNOWN;
  static const char* name_of(CUptiResult result) noexcept { return result_name(result); }
  /// Profilers probe for counters and have a trace without them.
  static bool is_answer(const char*, CUptiResult result) noexcept {
    return result == CUPTI_ERROR_NOT_SUPPORTED;
  }
  static void ended(const char*, CUptiResult result);
};

/// Converts a result of the driver to a CUptiResult.
constexpr CUptiResult status_of(cu::CUresult result) noexcept {
  return frame::status_of<CuptiLibrary>(result);
}

/// Logs why an argument is invalid and returns CUPTI_ERROR_INVALID_PARAMETER.
inline constexpr frame::Failure<CUPTI_ERROR_INVALID_PARAMETER> invalid;
/// Logs what is missing and returns CUPTI_ERROR_NOT_SUPPORTED.
inline constexpr frame::Failure<CUPTI_ERROR_NOT_SUPPORTED> unsupported;

/// Marks calls of the driver that the library itself makes on this thread, which no profiler hears
/// of.
class OwnCalls {
 public:
  OwnCalls() { ++depth(); }
  ~OwnCalls() { --depth(); }
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;
  static bool is_here() { return depth() != 0; }

 private:
  static int& depth() {
    thread_local int calls = 0;
    return calls;
  }
};

/// Runs the body of an exported function.
template <class Body>
CUptiResult call(Body&& body, const char* function = __builtin_FUNCTION()) {
  return library::call<CuptiLibrary>(function, body);
}

/// Runs the body with Kernelmill's driver and its services.
template <class Body>
CUptiResult call_driver(Body&& body, const char* function = __builtin_FUNCTION()) {
  return call(
      [&]() -> CUptiResult {
        const OwnCalls own;
        const library::Driver* const driver = library::driver();
        if (driver == nullptr || driver->table == nullptr) {
          return frame::fail(CUPTI_ERROR_NOT_INITIALIZED,
                             "this library works with Kernelmill's libcuda.so.1 only; run the "
                             "program by `kernelmill exec`");
        }
        return body(*driver);
      },
      function);
}

/// Writes a value to the program's memory.
template <class T>
CUptiResult give(const char* name, T* out, const T& value) {
  if (out == nullptr) return invalid("%s is null", name);
  return library::write_host(out, &value, sizeof value)
             ? CUPTI_SUCCESS
             : invalid("%s is not an address that can be written", name);
}

/// The result that the calling thread's last failed call gave; reading it resets it.
CUptiResult take_last_error() noexcept;

}  // namespace km::cupti
