// The statuses of cuSOLVER and the frame around its functions.
#pragma once

#include "base/callback/contained_call.h"
#include "dropin/cusolver/generated/api.h"
#include "dropin/library/call.h"
#include "dropin/library/host_memory.h"

namespace km::cusolver {

using library::Driver;

/// Logs why arguments are invalid and returns CUSOLVER_STATUS_INVALID_VALUE.
inline constexpr frame::Failure<CUSOLVER_STATUS_INVALID_VALUE> invalid;
/// Logs the unsupported feature and returns CUSOLVER_STATUS_NOT_SUPPORTED.
inline constexpr frame::Failure<CUSOLVER_STATUS_NOT_SUPPORTED> unsupported;

/// A status's name, such as "CUSOLVER_STATUS_SUCCESS", and its meaning.
const char* status_name(cusolverStatus_t status) noexcept;
const char* status_text(cusolverStatus_t status) noexcept;

/// Reads from the address in argument `name`. CUSOLVER_STATUS_INVALID_VALUE if it is null or not
/// readable.
cusolverStatus_t read_place(const char* name, const void* place, void* out,
                            size_t size_bytes) noexcept;
/// Writes to the address in argument `name`. CUSOLVER_STATUS_INVALID_VALUE if it is null or not
/// writable.
cusolverStatus_t write_place(const char* name, void* place, const void* value,
                             size_t size_bytes) noexcept;
template <class T>
cusolverStatus_t read_value(const char* name, const T* place, T* out) noexcept {
  return read_place(name, place, out, sizeof(T));
}
template <class T>
cusolverStatus_t write_value(const char* name, T* place, const T& value) noexcept {
  return write_place(name, place, &value, sizeof(T));
}

/// Receives the end of each call while the program logs (api/logger_api.cpp).
using CallLogger = void (*)(const char* function, cusolverStatus_t status);
inline std::atomic<CallLogger> call_logger{nullptr};

/// Describes cuSOLVER to the shared frame.
struct SolverLibrary : frame::Library {
  using Status = cusolverStatus_t;
  static constexpr Status kOutOfMemory = CUSOLVER_STATUS_ALLOC_FAILED;
  static constexpr Status kUnexpected = CUSOLVER_STATUS_INTERNAL_ERROR;
  static constexpr Status kNotSupported = CUSOLVER_STATUS_NOT_SUPPORTED;
  static constexpr Status kNotInitialized = CUSOLVER_STATUS_NOT_INITIALIZED;
  static constexpr frame::StatusOfResult<Status> kStatuses[] = {
      {cu::CUDA_SUCCESS, CUSOLVER_STATUS_SUCCESS},
      {cu::CUDA_ERROR_INVALID_VALUE, CUSOLVER_STATUS_INVALID_VALUE},
      {cu::CUDA_ERROR_OUT_OF_MEMORY, CUSOLVER_STATUS_ALLOC_FAILED},
      {cu::CUDA_ERROR_NOT_SUPPORTED, CUSOLVER_STATUS_NOT_SUPPORTED},
      {cu::CUDA_ERROR_NOT_INITIALIZED, CUSOLVER_STATUS_NOT_INITIALIZED},
      {cu::CUDA_ERROR_NO_DEVICE, CUSOLVER_STATUS_NOT_INITIALIZED},
  };
  static constexpr Status kOtherStatus = CUSOLVER_STATUS_EXECUTION_FAILED;
  static const char* name_of(cusolverStatus_t status) noexcept { return status_name(status); }
  static const char* text_of(int status) noexcept {
    return status_text(static_cast<cusolverStatus_t>(status));
  }
  /// Passes the call to the program's logger. If a callback has asked to end the thread, it ends
  /// here.
  static void ended(const char* function, cusolverStatus_t status) {
    if (const CallLogger logger = call_logger.load(std::memory_order_relaxed)) {
      logger(function, status);
    }
    end_thread_if_begun();
  }
};

/// Converts a result of the driver to a cusolverStatus_t.
constexpr cusolverStatus_t status_of(cu::CUresult result) noexcept {
  return frame::status_of<SolverLibrary>(result);
}

/// Runs the body of an exported function; an exception becomes its status.
template <class Body>
cusolverStatus_t call(const char* function, Body&& body) {
  return library::call<SolverLibrary>(function, body);
}

}  // namespace km::cusolver
