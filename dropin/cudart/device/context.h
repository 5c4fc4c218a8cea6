// The runtime's devices and contexts: each thread has a device, whose primary context becomes
// current at the thread's first call that needs one. A context that the program has made current
// through the driver is used unchanged.
#pragma once

#include "dropin/cudart/frame/call.h"
#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

inline constexpr int kMaxDevices = 64;

struct ThreadState {
  uint64_t epoch = 0;  // number of resets at the last check of the context
  int device = -1;     // -1: never chosen
};
extern thread_local ThreadState thread_state;

/// The slow path of enter_context().
cudaError_t find_context();

/// Makes the primary context of the thread's device current unless a usable context is current.
inline cudaError_t enter_context() {
  if (thread_state.epoch == reset_epoch.load(std::memory_order_acquire)) [[likely]] {
    CUcontext current = nullptr;
    if (driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr) [[likely]]
      return cudaSuccess;
  }
  return find_context();
}

/// Runs a function that needs a context: the primary context of the thread's device if none is
/// current.
template <class Body>
cudaError_t call_context(Body&& body, const char* function = __builtin_FUNCTION()) {
  const auto with_context = [&]() -> cudaError_t {
    LIB_TRY(enter_context());
    return body();
  };
  return call(with_context, function);
}

/// The number of devices. cudaErrorNoDevice if it is 0.
cudaError_t count_devices(int* out);
/// cudaErrorInvalidDevice if there is no such device.
cudaError_t check_ordinal(int device);
/// A device's primary context, which the runtime retains once. cudaErrorInvalidDevice if there is
/// no such device.
cudaError_t primary_context(int device, CUcontext* out);
/// The current context's device, or the thread's device if no context is current.
cudaError_t current_device(int* out);
/// Selects the thread's device and makes its primary context current.
cudaError_t choose_device(int device);
/// Resets the current device's primary context, which ends everything in it.
cudaError_t reset_device();
/// The devices that threads use by default, in order of preference; empty: the first device.
cudaError_t set_valid_devices(const int* devices, int count);

/// Makes a device's primary context current until the scope ends.
class DeviceScope {
 public:
  /// Enters the scope; status() returns the error if that fails.
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  cudaError_t status() const { return status_; }

 private:
  cudaError_t status_;
};

}  // namespace km::cudart
