// Launches, graphs and occupancy share these.
#pragma once

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

/// Drivers take kernels of libraries as functions.
inline CUfunction as_function(CUkernel kernel) { return reinterpret_cast<CUfunction>(kernel); }

/// The function of a symbol in the current context. cudaErrorInvalidDeviceFunction.
cudaError_t find_function(const void* symbol, CUfunction* out);

/// The driver's form of a configuration. cudaErrorInvalidValue: too much shared memory.
cudaError_t driver_config(const cudaLaunchConfig_t& config, CUlaunchConfig* out);

/// The error for a launch's result: cudaErrorInvalidConfiguration where the driver refuses it
/// because no kernel can have such a grid or block.
cudaError_t launch_result(CUresult result, dim3 grid, dim3 block);

}  // namespace km::cudart
