// The frame around cuDNN's functions: statuses, messages, handles.
#pragma once

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <memory>

#include "dropin/cudnn/generated/api.h"
#include "dropin/library/call.h"
#include "dropin/library/host_memory.h"

namespace km::cudnn {

using library::Driver;

/// The version of cuDNN whose interface this is.
constexpr int kMajor = 9, kMinor = 28, kPatch = 0;

/// A cudnnHandle_t, which several calls may use.
struct Handle {
  const Driver* driver = nullptr;
  std::atomic<cu::CUstream> stream{nullptr};
};

/// The name of a status; null if the number is not a status.
const char* status_name(cudnnStatus_t status) noexcept;
/// Keeps a failure's reason for cudnnGetLastErrorString.
void keep_message(const char* function, const char* format, va_list arguments) noexcept;

/// Describes cuDNN to the shared frame.
struct DnnLibrary : frame::Library {
  using Status = cudnnStatus_t;
  static constexpr Status kOutOfMemory = CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
  static constexpr Status kUnexpected = CUDNN_STATUS_INTERNAL_ERROR;
  static constexpr Status kNotInitialized = CUDNN_STATUS_NOT_INITIALIZED;
  static constexpr Status kNotSupported = CUDNN_STATUS_NOT_SUPPORTED;
  static constexpr frame::StatusOfResult<Status> kStatuses[] = {
      {cu::CUDA_SUCCESS, CUDNN_STATUS_SUCCESS},
      {cu::CUDA_ERROR_OUT_OF_MEMORY, CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED},
      {cu::CUDA_ERROR_INVALID_VALUE, CUDNN_STATUS_BAD_PARAM},
      {cu::CUDA_ERROR_NOT_SUPPORTED, CUDNN_STATUS_NOT_SUPPORTED},
  };
  static constexpr Status kOtherStatus = CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER;
  static const char* name_of(cudnnStatus_t status) noexcept { return status_name(status); }
};

/// Converts a result of the driver to a cudnnStatus_t.
constexpr cudnnStatus_t status_of(cu::CUresult result) noexcept {
  return frame::status_of<DnnLibrary>(result);
}

/// Logs the reason of a failure, keeps it for cudnnGetLastErrorString and returns the status.
template <cudnnStatus_t kStatus>
struct Failure {
  [[gnu::format(printf, 2, 3)]] cudnnStatus_t operator()(const char* format, ...) const noexcept {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    keep_message(frame::current_function(), format, again);
    va_end(again);
    frame::explain_list(format, arguments);
    va_end(arguments);
    return kStatus;
  }
};
inline constexpr Failure<CUDNN_STATUS_BAD_PARAM> invalid;
inline constexpr Failure<CUDNN_STATUS_NOT_SUPPORTED> unsupported;

/// Stores a result for the program. CUDNN_STATUS_BAD_PARAM if its address is null or not writable.
template <class T>
cudnnStatus_t give(T* place, const T& value) noexcept {
  if (place != nullptr && library::write_host(place, value)) return CUDNN_STATUS_SUCCESS;
  return invalid("no result can be written to %p", static_cast<const void*>(place));
}
/// give(), but a null address means that the program does not ask for the result.
template <class T>
cudnnStatus_t give_if_asked(T* place, const T& value) noexcept {
  return place == nullptr ? CUDNN_STATUS_SUCCESS : give(place, value);
}
/// Reads `count` values of the program's array.
template <class T>
cudnnStatus_t take(const T* from, size_t count, T* out, const char* name) noexcept {
  if (from != nullptr && library::read_host(out, from, count * sizeof(T))) {
    return CUDNN_STATUS_SUCCESS;
  }
  return invalid("%s cannot be read at %p", name, static_cast<const void*>(from));
}
template <class T>
cudnnStatus_t give_array(T* place, const T* values, size_t count) noexcept {
  if (place != nullptr && library::write_host(place, values, count * sizeof(T))) {
    return CUDNN_STATUS_SUCCESS;
  }
  return invalid("no result can be written to %p", static_cast<const void*>(place));
}

/// Runs the body of an exported function.
template <class Body>
cudnnStatus_t call(Body&& body, const char* function = __builtin_FUNCTION()) {
  return library::call<DnnLibrary>(function, body);
}

/// Runs a function of a handle.
template <class Body>
cudnnStatus_t call(cudnnHandle_t handle, Body&& body, const char* function = __builtin_FUNCTION()) {
  return library::call_with<DnnLibrary, Handle>(
      function, reinterpret_cast<uint64_t>(handle), "handle", [&](Handle& h) -> cudnnStatus_t {
        LIB_TRY(status_of(library::enter_context(*h.driver)));
        return body(h);
      });
}

}  // namespace km::cudnn
