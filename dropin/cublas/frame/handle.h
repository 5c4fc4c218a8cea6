// Handles of cuBLAS and the frame around every exported function.
#pragma once

#include <atomic>
#include <memory>

#include "base/callback/contained_call.h"
#include "dropin/cublas/generated/api.h"
#include "dropin/library/call.h"
#include "dropin/library/host_memory.h"

namespace km::cublas {

using library::Driver;

/// A handle's settings. Its stream belongs to the program; its context is the one that was current
/// at its creation.
struct Handle {
  const Driver* driver = nullptr;
  cu::CUcontext context = nullptr;
  std::atomic<cu::CUstream> stream{nullptr};
  std::atomic<int> pointer_mode{CUBLAS_POINTER_MODE_HOST};
  std::atomic<int> atomics_mode{CUBLAS_ATOMICS_NOT_ALLOWED};
  std::atomic<int> math_mode{CUBLAS_DEFAULT_MATH};
  std::atomic<int> sm_count_target{0};
  // Emulation settings are only stored, because nothing is emulated.
  std::atomic<int> emulation_strategy{CUBLAS_EMULATION_STRATEGY_DEFAULT};
  std::atomic<int> special_values{CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT};
  std::atomic<int> mantissa_control{CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC};
  std::atomic<int> most_mantissa_bits{0};
  std::atomic<int> mantissa_bit_offset{0};
  std::atomic<int*> mantissa_bit_count{nullptr};

  bool has_device_pointers() const { return pointer_mode == CUBLAS_POINTER_MODE_DEVICE; }
};

/// Null if the handle is not live.
std::shared_ptr<Handle> find_handle(cublasHandle_t handle);
/// cublasCreate_v2 and cublasDestroy_v2, for exported functions: neither writes to the log.
cublasStatus_t create_handle(cublasHandle_t* out);
cublasStatus_t destroy_handle(cublasHandle_t handle);

/// Logs why arguments are invalid, with the function's name, and returns
/// CUBLAS_STATUS_INVALID_VALUE.
inline constexpr frame::Failure<CUBLAS_STATUS_INVALID_VALUE> invalid;
/// Logs the unsupported feature and returns CUBLAS_STATUS_NOT_SUPPORTED.
inline constexpr frame::Failure<CUBLAS_STATUS_NOT_SUPPORTED> unsupported;

/// Reads from the address in argument `name`. CUBLAS_STATUS_INVALID_VALUE if it is null or not
/// readable.
cublasStatus_t read_place(const char* name, const void* place, void* out,
                          size_t size_bytes) noexcept;
/// Writes to the address in argument `name`. CUBLAS_STATUS_INVALID_VALUE if it is null or not
/// writable.
cublasStatus_t write_place(const char* name, void* place, const void* value,
                           size_t size_bytes) noexcept;
template <class T>
cublasStatus_t read_value(const char* name, const T* place, T* out) noexcept {
  return read_place(name, place, out, sizeof(T));
}
template <class T>
cublasStatus_t write_value(const char* name, T* place, const T& value) noexcept {
  return write_place(name, place, &value, sizeof(T));
}

/// A status's name, such as "CUBLAS_STATUS_SUCCESS", and its meaning.
const char* status_name(cublasStatus_t status) noexcept;
const char* status_text(cublasStatus_t status) noexcept;

/// For cublasLoggerConfigure, which logs one line per call.
using CallLogger = void (*)(const char* function, cublasStatus_t status);
inline std::atomic<CallLogger> call_logger{nullptr};

/// Describes cuBLAS, cublasLt and cublasXt to the shared frame.
struct BlasLibrary : frame::Library {
  using Status = cublasStatus_t;
  static constexpr Status kOutOfMemory = CUBLAS_STATUS_ALLOC_FAILED;
  static constexpr Status kUnexpected = CUBLAS_STATUS_INTERNAL_ERROR;
  static constexpr Status kNotSupported = CUBLAS_STATUS_NOT_SUPPORTED;
  static constexpr Status kNotInitialized = CUBLAS_STATUS_NOT_INITIALIZED;
  static constexpr frame::StatusOfResult<Status> kStatuses[] = {
      {cu::CUDA_SUCCESS, CUBLAS_STATUS_SUCCESS},
      {cu::CUDA_ERROR_INVALID_VALUE, CUBLAS_STATUS_INVALID_VALUE},
      {cu::CUDA_ERROR_OUT_OF_MEMORY, CUBLAS_STATUS_ALLOC_FAILED},
      {cu::CUDA_ERROR_NOT_SUPPORTED, CUBLAS_STATUS_NOT_SUPPORTED},
      // The driver returns this error if OpenBLAS is missing.
      {cu::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, CUBLAS_STATUS_NOT_INITIALIZED},
      {cu::CUDA_ERROR_NOT_INITIALIZED, CUBLAS_STATUS_NOT_INITIALIZED},
      {cu::CUDA_ERROR_NO_DEVICE, CUBLAS_STATUS_NOT_INITIALIZED},
  };
  static constexpr Status kOtherStatus = CUBLAS_STATUS_EXECUTION_FAILED;
  static const char* name_of(cublasStatus_t status) noexcept { return status_name(status); }
  static const char* text_of(cublasStatus_t status) noexcept { return status_text(status); }
  /// Programs probe for support and have alternatives, so these failures are not shown.
  static bool is_answer(const char*, cublasStatus_t status) noexcept {
    return status == CUBLAS_STATUS_NOT_SUPPORTED;
  }
  /// Passes the call to the program's logger. If a callback has asked to end the thread, it ends
  /// here.
  static void ended(const char* function, cublasStatus_t status) {
    if (const CallLogger logger = call_logger.load(std::memory_order_relaxed)) {
      logger(function, status);
    }
    end_thread_if_begun();
  }
};

/// Describes functions that are not implemented: programs do not probe for them, so the first such
/// call is shown.
struct MissingFunctions : BlasLibrary {
  static bool is_answer(const char*, cublasStatus_t) noexcept { return false; }
};

/// Converts a result of the driver to a cublasStatus_t.
constexpr cublasStatus_t status_of(cu::CUresult result) noexcept {
  return frame::status_of<BlasLibrary>(result);
}

/// Runs the body of an exported function; an exception becomes its status.
template <class Body>
cublasStatus_t call(const char* function, Body&& body) {
  return library::call<BlasLibrary>(function, body);
}

/// Runs a function with a handle, whose context becomes current if the thread has none.
template <class Body>
cublasStatus_t call(const char* function, cublasHandle_t handle, Body&& body) {
  return call(function, [&]() -> cublasStatus_t {
    const std::shared_ptr<Handle> found = find_handle(handle);
    if (found == nullptr) {
      return frame::fail(CUBLAS_STATUS_NOT_INITIALIZED, "the handle is not live");
    }
    cu::CUcontext current = nullptr;
    found->driver->cuCtxGetCurrent(&current);
    if (current == nullptr) found->driver->cuCtxSetCurrent(found->context);
    return body(*found);
  });
}

}  // namespace km::cublas
