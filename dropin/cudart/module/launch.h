// Helpers that launches, graphs and occupancy share.
#pragma once

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

/// Drivers accept kernels of libraries as functions.
inline CUfunction as_function(CUkernel kernel) { return reinterpret_cast<CUfunction>(kernel); }

/// A symbol's function in the current context. cudaErrorInvalidDeviceFunction if there is none.
cudaError_t find_function(const void* symbol, CUfunction* out);

/// Converts a launch configuration to the driver's form. cudaErrorInvalidValue if the shared memory
/// is too large.
cudaError_t driver_config(const cudaLaunchConfig_t& config, CUlaunchConfig* out);

/// The error for a launch's result: cudaErrorInvalidConfiguration if the driver rejects the launch
/// because no kernel can have such a grid or block.
cudaError_t launch_result(CUresult result, dim3 grid, dim3 block);

}  // namespace km::cudart
