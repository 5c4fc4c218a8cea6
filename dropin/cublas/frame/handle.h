// Handles of cuBLAS, and the frame around every exported function.
#pragma once

#include <cxxabi.h>

#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>

#include "base/log.h"
#include "base/process/fork.h"
#include "dropin/cublas/types.h"
#include "dropin/library/driver.h"
#include "dropin/library/handles.h"
#include "dropin/library/host_memory.h"

namespace km::cublas {

using library::Driver;

/// The settings of one handle. Streams are the program's; the context is that of the creation.
struct Handle {
  const Driver* driver = nullptr;
  cu::CUcontext context = nullptr;
  std::atomic<cu::CUstream> stream{nullptr};
  std::atomic<int> pointer_mode{CUBLAS_POINTER_MODE_HOST};
  std::atomic<int> atomics_mode{CUBLAS_ATOMICS_NOT_ALLOWED};
  std::atomic<int> math_mode{CUBLAS_DEFAULT_MATH};
  std::atomic<int> sm_count_target{0};
  // Nothing is emulated; programs read what they have set.
  std::atomic<int> emulation_strategy{CUBLAS_EMULATION_STRATEGY_DEFAULT};
  std::atomic<int> special_values{CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT};
  std::atomic<int> mantissa_control{CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC};
  std::atomic<int> most_mantissa_bits{0};
  std::atomic<int> mantissa_bit_offset{0};
  std::atomic<int*> mantissa_bit_count{nullptr};

  bool has_device_pointers() const { return pointer_mode == CUBLAS_POINTER_MODE_DEVICE; }
};

/// Null when the handle is no live one.
std::shared_ptr<Handle> find_handle(cublasHandle_t handle);

/// The name of the exported function that this thread is in, for messages.
const char*& current_function() noexcept;

/// cublasStatus_t for what the driver says.
cublasStatus_t status_of(cu::CUresult result) noexcept;

/// Logs why the arguments are wrong, with the function's name. CUBLAS_STATUS_INVALID_VALUE.
[[gnu::format(printf, 1, 2)]] cublasStatus_t invalid(const char* format, ...) noexcept;
/// Logs what is not implemented. CUBLAS_STATUS_NOT_SUPPORTED.
[[gnu::format(printf, 1, 2)]] cublasStatus_t unsupported(const char* format, ...) noexcept;

/// Reads what the program's argument `name` points to. CUBLAS_STATUS_INVALID_VALUE when it is null
/// or not there.
cublasStatus_t read_place(const char* name, const void* place, void* out,
                          size_t size_bytes) noexcept;
/// Writes to where the program's argument `name` points. CUBLAS_STATUS_INVALID_VALUE when it is
/// null or cannot be written.
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

/// "CUBLAS_STATUS_SUCCESS", and what it means.
const char* status_name(cublasStatus_t status) noexcept;
const char* status_text(cublasStatus_t status) noexcept;

/// For cublasLoggerConfigure: one line for each call.
using CallLogger = void (*)(const char* function, cublasStatus_t status);
inline std::atomic<CallLogger> call_logger{nullptr};

/// Runs the body of an exported function: what it throws becomes its status. Handles do not outlive
/// a fork().
template <class Body>
cublasStatus_t frame(const char* function, Body&& body) {
  cublasStatus_t status = CUBLAS_STATUS_INTERNAL_ERROR;
  current_function() = function;
  try {
    status = is_forked() ? CUBLAS_STATUS_NOT_INITIALIZED : body();
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread ends: cancelled inside the driver
  } catch (const std::bad_alloc&) {
    status = CUBLAS_STATUS_ALLOC_FAILED;
  } catch (const std::length_error&) {  // more than any memory has
    status = CUBLAS_STATUS_ALLOC_FAILED;
  } catch (...) {
    status = CUBLAS_STATUS_INTERNAL_ERROR;
  }
  if (const CallLogger logger = call_logger.load(std::memory_order_relaxed)) {
    logger(function, status);
  }
  return status;
}

/// frame() for functions with a handle, whose context becomes current when the thread has none.
template <class Body>
cublasStatus_t call(const char* function, cublasHandle_t handle, Body&& body) {
  return frame(function, [&]() -> cublasStatus_t {
    const std::shared_ptr<Handle> found = find_handle(handle);
    if (found == nullptr) {
      log(LogLevel::kInfo, "cuda", "%s: the handle is not a live one", function);
      return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    cu::CUcontext current = nullptr;
    found->driver->cuCtxGetCurrent(&current);
    if (current == nullptr) found->driver->cuCtxSetCurrent(found->context);
    return body(*found);
  });
}

}  // namespace km::cublas

/// Returns what is not CUBLAS_STATUS_SUCCESS from the enclosing function.
#define BLAS_TRY(expression)                                                                   \
  do {                                                                                         \
    if (const cublasStatus_t blas_status = (expression); blas_status != CUBLAS_STATUS_SUCCESS) \
      return blas_status;                                                                      \
  } while (0)
/// BLAS_TRY for a call of the driver.
#define BLAS_CHECK(expression) BLAS_TRY(::km::cublas::status_of(expression))
#define BLAS_REQUIRE(pointer) \
  if ((pointer) == nullptr) return ::km::cublas::invalid("%s is null", #pointer)
