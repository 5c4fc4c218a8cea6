// Devices and contexts of the runtime: each thread has a device, whose primary context is made
// current at the thread's first call that needs one. Contexts that the program has made current by
// the driver are used as they are.
#pragma once

#include "dropin/cudart/frame/call.h"
#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

inline constexpr int kMaxDevices = 64;

struct ThreadState {
  uint64_t epoch = 0;  // of resets, when the context was last looked at
  int device = -1;     // -1: never chosen
};
extern thread_local ThreadState thread_state;

/// The slow path of enter_context().
cudaError_t find_context();

/// Makes sure that the thread has a current context.
inline cudaError_t enter_context() {
  if (thread_state.epoch == reset_epoch.load(std::memory_order_acquire)) [[likely]] {
    CUcontext current = nullptr;
    if (driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr) [[likely]]
      return cudaSuccess;
  }
  return find_context();
}

/// A call with a context current: the thread's device gets its primary one if there is none.
template <class Body>
cudaError_t call_context(Body&& body, const char* function = __builtin_FUNCTION()) {
  const auto with_context = [&]() -> cudaError_t {
    LIB_TRY(enter_context());
    return body();
  };
  return call(with_context, function);
}

/// How many devices there are. cudaErrorNoDevice: none.
cudaError_t count_devices(int* out);
/// cudaErrorInvalidDevice for what is no device.
cudaError_t check_ordinal(int device);
/// The primary context of a device, retained once for the runtime. cudaErrorInvalidDevice.
cudaError_t primary_context(int device, CUcontext* out);
/// The device of the current context, or the thread's if there is none.
cudaError_t current_device(int* out);
/// Makes a device the thread's, with its primary context current.
cudaError_t choose_device(int device);
/// Ends all that is of the current device's primary context.
cudaError_t reset_device();
/// The devices that threads which never chose one take, in this order; empty: the first one.
cudaError_t set_valid_devices(const int* devices, int count);

/// Makes a device's primary context current until it goes.
class DeviceScope {
 public:
  /// The scope of `device`; what went wrong is in status().
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  cudaError_t status() const { return status_; }

 private:
  cudaError_t status_;
};

}  // namespace km::cudart
