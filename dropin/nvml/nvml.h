// The implemented part of NVML's ABI, and the frame of its functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dropin/frame/call.h"
#include "dropin/library/driver.h"
#include "dropin/library/host_memory.h"
#include "dropin/nvml/structures.h"

namespace km::nvml {

using library::Driver;

/// True if nvmlInit was called more often than nvmlShutdown.
bool is_initialized();

/// Finds the driver's device for a handle.
nvmlReturn_t find_device(const Driver& driver, nvmlDevice_t handle, cu::CUdevice* out);
nvmlDevice_t handle_of(unsigned index);
/// Free and total memory of a device. If no context of the device is current, its primary context
/// is used.
nvmlReturn_t get_memory(const Driver& driver, cu::CUdevice device, size_t* free, size_t* total);

/// Describes NVML to the shared frame. Programs use NVML to probe the system, so its failures are
/// not shown.
struct NvmlLibrary : frame::Library {
  using Status = nvmlReturn_t;
  static constexpr Status kOutOfMemory = NVML_ERROR_MEMORY;
  static constexpr Status kUnexpected = NVML_ERROR_UNKNOWN;
  static constexpr Status kNotSupported = NVML_ERROR_NOT_SUPPORTED;
  static constexpr frame::StatusOfResult<Status> kStatuses[] = {
      {cu::CUDA_SUCCESS, NVML_SUCCESS},
      {cu::CUDA_ERROR_INVALID_VALUE, NVML_ERROR_INVALID_ARGUMENT},
      {cu::CUDA_ERROR_INVALID_DEVICE, NVML_ERROR_INVALID_ARGUMENT},
      {cu::CUDA_ERROR_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED},
      {cu::CUDA_ERROR_OUT_OF_MEMORY, NVML_ERROR_MEMORY},
  };
  static constexpr Status kOtherStatus = NVML_ERROR_UNKNOWN;
  static constexpr bool kShowsFailures = false;
  static const char* name_of(nvmlReturn_t status) noexcept;
};

/// Converts a result of the driver to an nvmlReturn_t.
constexpr nvmlReturn_t status_of(cu::CUresult result) noexcept {
  return frame::status_of<NvmlLibrary>(result);
}

/// Logs why an argument is invalid and returns the error.
inline constexpr frame::Failure<NVML_ERROR_INVALID_ARGUMENT> invalid;

/// Stores a result, or a part of it, for the program. NVML_ERROR_INVALID_ARGUMENT if its address is
/// null or not writable.
inline nvmlReturn_t store_bytes(void* place, const void* value, size_t size_bytes) noexcept {
  if (place != nullptr && library::write_host(place, value, size_bytes)) return NVML_SUCCESS;
  return invalid("no result can be written to %p", place);
}
template <class T>
nvmlReturn_t store(T* place, const std::type_identity_t<T>& value) noexcept {
  return store_bytes(place, &value, sizeof value);
}

/// Copies a string with its terminating zero if there is room.
nvmlReturn_t give_text(const char* text, char* out, unsigned size_bytes);

/// Runs a function that does not need nvmlInit.
template <class Body>
nvmlReturn_t call_before_init(Body&& body, const char* function = __builtin_FUNCTION()) {
  return frame::call<NvmlLibrary>(function, body);
}

/// Runs a function that needs nvmlInit; the body receives the driver.
template <class Body>
nvmlReturn_t call(Body&& body, const char* function = __builtin_FUNCTION()) {
  const auto with_driver = [&]() -> nvmlReturn_t {
    if (!is_initialized()) return NVML_ERROR_UNINITIALIZED;
    const Driver* const driver = library::driver();
    return driver != nullptr ? body(*driver) : NVML_ERROR_DRIVER_NOT_LOADED;
  };
  return call_before_init(with_driver, function);
}

/// Runs a function of a device; the body receives the device.
template <class Body>
nvmlReturn_t call_device(nvmlDevice_t handle, Body&& body,
                         const char* function = __builtin_FUNCTION()) {
  const auto with_device = [&](const Driver& driver) -> nvmlReturn_t {
    cu::CUdevice device = 0;
    LIB_TRY(find_device(driver, handle, &device));
    return body(driver, device);
  };
  return call(with_device, function);
}

}  // namespace km::nvml
