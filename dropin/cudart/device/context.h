// Devices and contexts of the runtime: each thread has a device, whose primary context is made
// current at the thread's first call that needs one. Contexts that the program has made current by
// the driver are used as they are.
#pragma once

#include <atomic>
#include <vector>

#include "dropin/cudart/driver.h"

namespace km::cudart {

inline constexpr int kMaxDevices = 64;

struct ThreadState {
  uint64_t epoch = 0;  // of resets, when the context was last looked at
  int device = -1;     // -1: never chosen
  cudaError_t last_error = cudaSuccess;
  uint64_t error_epoch = 0;  // of resets, when it was noted
};
extern thread_local ThreadState thread_state;

/// Counts calls of cudaDeviceReset; starts at 1.
extern std::atomic<uint64_t> reset_epoch;

/// The slow path of enter_context().
cudaError_t find_context() noexcept;

/// Makes sure that the thread has a current context.
inline cudaError_t enter_context() noexcept {
  if (thread_state.epoch == reset_epoch.load(std::memory_order_acquire)) [[likely]] {
    CUcontext current = nullptr;
    if (driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr) [[likely]]
      return cudaSuccess;
  }
  return find_context();
}

/// How many devices there are. cudaErrorNoDevice: none.
cudaError_t count_devices(int* out) noexcept;
/// cudaErrorInvalidDevice for what is no device.
cudaError_t check_ordinal(int device) noexcept;
/// The primary context of a device, retained once for the runtime. cudaErrorInvalidDevice.
cudaError_t primary_context(int device, CUcontext* out) noexcept;
/// The device of the current context, or the thread's if there is none.
cudaError_t current_device(int* out) noexcept;
/// Makes a device the thread's, with its primary context current.
cudaError_t choose_device(int device) noexcept;
/// Ends all that is of the current device's primary context.
cudaError_t reset_device() noexcept;
/// The devices that threads which never chose one take, in this order; empty: the first one.
cudaError_t set_valid_devices(const int* devices, int count);

/// Makes a device's primary context current until it goes.
class DeviceScope {
 public:
  /// The scope of `device`; what went wrong is in status().
  explicit DeviceScope(int device) noexcept;
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  cudaError_t status() const { return status_; }

 private:
  cudaError_t status_;
};

}  // namespace km::cudart
