// The functions of the CUDA driver that the runtime is made of, found at run time: in our
// libcuda.so.1 or in NVIDIA's.
#pragma once

#include "dropin/cudart/frame/types.h"

namespace km::cudart {

/// A typed pointer for each function; those that the driver lacks give
/// cudaErrorCallRequiresNewerDriver.
struct DriverTable {
#define KM_CUDART_DRIVER(name) decltype(&cu::name) name;
#include "dropin/cudart/frame/driver.def"
#undef KM_CUDART_DRIVER
};

/// Filled by load_driver().
extern DriverTable driver;

/// Loads libcuda.so.1 and initialises it, once. cudaErrorInsufficientDriver: there is none, or
/// it is older than CUDA 12; cudaErrorInitializationError in a child of a process that used it;
/// else the driver's reason, cudaErrorNoDevice for one.
cudaError_t load_driver();

}  // namespace km::cudart
