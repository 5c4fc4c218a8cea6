// Handles of cuSPARSE and the frame around every exported function.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "base/callback/contained_call.h"
#include "dropin/cusparse/frame/structures.h"
#include "dropin/library/call.h"
#include "dropin/library/host_memory.h"

namespace km::cusparse {

using library::Driver;

/// The version that cusparseGetVersion and cusparseGetProperty report: that of the headers.
constexpr int kVersionParts[] = {12, 9, 4};
constexpr int kVersion = kVersionParts[0] * 1000 + kVersionParts[1] * 100 + kVersionParts[2];

/// A handle's settings. Its stream belongs to the program; its context is the one that was current
/// at its creation.
struct Handle {
  const Driver* driver = nullptr;
  cu::CUcontext context = nullptr;
  std::atomic<cu::CUstream> stream{nullptr};
  std::atomic<int> pointer_mode{CUSPARSE_POINTER_MODE_HOST};

  bool has_device_pointers() const { return pointer_mode == CUSPARSE_POINTER_MODE_DEVICE; }
};

/// Null if the handle is not live.
std::shared_ptr<Handle> find_handle(cusparseHandle_t handle);

/// Logs why arguments are invalid and returns CUSPARSE_STATUS_INVALID_VALUE.
inline constexpr frame::Failure<CUSPARSE_STATUS_INVALID_VALUE> invalid;
/// Logs the unsupported feature and returns CUSPARSE_STATUS_NOT_SUPPORTED.
inline constexpr frame::Failure<CUSPARSE_STATUS_NOT_SUPPORTED> unsupported;

/// A status's name, such as "CUSPARSE_STATUS_SUCCESS", and its meaning; null for other numbers.
const char* status_name(cusparseStatus_t status) noexcept;
const char* status_text(cusparseStatus_t status) noexcept;

/// For cusparseLoggerSetCallback and cusparseLoggerSetFile, which get one line per call.
using CallLogger = void (*)(const char* function, cusparseStatus_t status);
inline std::atomic<CallLogger> call_logger{nullptr};

/// Describes cuSPARSE to the shared frame.
struct SparseLibrary : frame::Library {
  using Status = cusparseStatus_t;
  static constexpr Status kOutOfMemory = CUSPARSE_STATUS_ALLOC_FAILED;
  static constexpr Status kUnexpected = CUSPARSE_STATUS_INTERNAL_ERROR;
  static constexpr Status kNotSupported = CUSPARSE_STATUS_NOT_SUPPORTED;
  static constexpr Status kNotInitialized = CUSPARSE_STATUS_NOT_INITIALIZED;
  static constexpr frame::StatusOfResult<Status> kStatuses[] = {
      {cu::CUDA_SUCCESS, CUSPARSE_STATUS_SUCCESS},
      {cu::CUDA_ERROR_INVALID_VALUE, CUSPARSE_STATUS_INVALID_VALUE},
      {cu::CUDA_ERROR_OUT_OF_MEMORY, CUSPARSE_STATUS_ALLOC_FAILED},
      {cu::CUDA_ERROR_NOT_SUPPORTED, CUSPARSE_STATUS_NOT_SUPPORTED},
      {cu::CUDA_ERROR_NOT_INITIALIZED, CUSPARSE_STATUS_NOT_INITIALIZED},
      {cu::CUDA_ERROR_NO_DEVICE, CUSPARSE_STATUS_NOT_INITIALIZED},
  };
  static constexpr Status kOtherStatus = CUSPARSE_STATUS_EXECUTION_FAILED;
  static const char* name_of(cusparseStatus_t status) noexcept { return status_name(status); }
  static const char* text_of(cusparseStatus_t status) noexcept { return status_text(status); }
  /// Programs ask for zero pivots, which are not shown as failures.
  static bool is_answer(const char*, cusparseStatus_t status) noexcept {
    return status == CUSPARSE_STATUS_ZERO_PIVOT;
  }
  /// Passes the call to the program's logger. If a callback has asked to end the thread, it ends
  /// here.
  static void ended(const char* function, cusparseStatus_t status) {
    if (const CallLogger logger = call_logger.load(std::memory_order_relaxed)) {
      logger(function, status);
    }
    end_thread_if_begun();
  }
};

/// Converts a result of the driver to a cusparseStatus_t.
constexpr cusparseStatus_t status_of(cu::CUresult result) noexcept {
  return frame::status_of<SparseLibrary>(result);
}

/// Runs the body of an exported function; an exception becomes its status.
template <class Body>
cusparseStatus_t call(Body&& body, const char* function = __builtin_FUNCTION()) {
  return library::call<SparseLibrary>(function, body);
}

/// Runs a function with a handle, whose context becomes current if the thread has none.
template <class Body>
cusparseStatus_t call(cusparseHandle_t handle, Body&& body,
                      const char* function = __builtin_FUNCTION()) {
  const auto with_handle = [&]() -> cusparseStatus_t {
    const std::shared_ptr<Handle> found = find_handle(handle);
    if (found == nullptr) {
      return frame::fail(CUSPARSE_STATUS_NOT_INITIALIZED, "the handle is not live");
    }
    cu::CUcontext current = nullptr;
    found->driver->cuCtxGetCurrent(&current);
    if (current == nullptr) found->driver->cuCtxSetCurrent(found->context);
    return body(*found);
  };
  return call(with_handle, function);
}

/// Stores a result for the program. CUSPARSE_STATUS_INVALID_VALUE if its address is null or not
/// writable.
template <class T>
cusparseStatus_t give(const char* name, T* place, const T& value) noexcept {
  if (place == nullptr) return invalid("%s is null", name);
  if (library::write_host(place, value)) return CUSPARSE_STATUS_SUCCESS;
  return invalid("%s is %p, which is not writable host memory", name, static_cast<void*>(place));
}

/// Adds an object of kind `kind` and stores its id for the program.
template <class Id, class T>
cusparseStatus_t give_new(Id* place, std::shared_ptr<T> object, library::HandleKind kind) {
  auto& handles = library::handle_map<T>();
  const uint64_t id = handles.add(std::move(object), library::handle_tag(kind, 12));
  const cusparseStatus_t given = give("the place for the object", place, reinterpret_cast<Id>(id));
  if (given != CUSPARSE_STATUS_SUCCESS) handles.remove(id);
  return given;
}

/// Ends an object's id. Null does nothing, as with NVIDIA's library.
template <class T, class Id>
cusparseStatus_t end_object(Id handle) {
  const auto id = reinterpret_cast<uint64_t>(handle);
  if (id == 0 || library::handle_map<T>().remove(id) != nullptr) return CUSPARSE_STATUS_SUCCESS;
  return invalid("the object is not live");
}

/// The object of an id; null if it is not live.
template <class T, class Id>
std::shared_ptr<T> find_object(Id handle) {
  return library::handle_map<T>().find(reinterpret_cast<uint64_t>(handle));
}

}  // namespace km::cusparse
