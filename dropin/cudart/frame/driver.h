// The driver functions that the runtime is built on, looked up at run time in Kernelmill's
// libcuda.so.1 or in NVIDIA's.
#pragma once

#include <atomic>

#include "dropin/cudart/frame/types.h"
#include "dropin/frame/api_listener.h"

namespace km::cudart {

/// Typed function pointers. A function that the driver lacks returns
/// cudaErrorCallRequiresNewerDriver.
struct DriverTable {
#define KM_CUDART_DRIVER(name) decltype(&cu::name) name;
#include "dropin/cudart/frame/driver.def"
#undef KM_CUDART_DRIVER
};

/// Filled in by load_driver().
extern DriverTable driver;

/// The listener of API calls: the driver's once load_driver() has found it there, until then and
/// with other drivers none.
extern std::atomic<const frame::ApiListenerPlace*> api_listener;

/// Loads and initialises libcuda.so.1 once. cudaErrorInsufficientDriver if there is none or it is
/// older than CUDA 12; cudaErrorInitializationError in a forked child of a process that used it;
/// otherwise the driver's own error, such as cudaErrorNoDevice.
cudaError_t load_driver();

}  // namespace km::cudart
