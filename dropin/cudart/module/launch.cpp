#include "dropin/cudart/module/launch.h"

#include "dropin/cudart/device/context.h"
#include "dropin/cudart/module/registry.h"

namespace km::cudart {
namespace {

bool exceeds(CUdevice device, CUdevice_attribute attribute, uint64_t value) {
  int limit = 0;
  if (driver.cuDeviceGetAttribute(&limit, attribute, device) != CUDA_SUCCESS) return false;
  return value > static_cast<uint64_t>(limit);
}

bool is_impossible(dim3 grid, dim3 block) {
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || grid.x == 0 || grid.y == 0 || grid.z == 0) return true;
  int device = 0;
  if (current_device(&device) != cudaSuccess) return false;
  return exceeds(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, threads) ||
         exceeds(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, block.x) ||
         exceeds(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, block.y) ||
         exceeds(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, block.z) ||
         exceeds(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, grid.x) ||
         exceeds(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, grid.y) ||
         exceeds(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, grid.z);
}

}  // namespace

cudaError_t find_function(const void* symbol, CUfunction* out) {
  CUkernel kernel = nullptr;
  LIB_TRY(find_kernel(symbol, &kernel));
  return driver.cuKernelGetFunction(out, kernel);
}

cudaError_t driver_config(const cudaLaunchConfig_t& config, CUlaunchConfig* out) {
  if (config.dynamicSmemBytes > UINT32_MAX) return cudaErrorInvalidValue;
  const dim3 grid = config.gridDim, block = config.blockDim;
  *out = {grid.x,
          grid.y,
          grid.z,
          block.x,
          block.y,
          block.z,
          static_cast<unsigned>(config.dynamicSmemBytes),
          config.stream,
          config.attrs,
          config.numAttrs};
  return cudaSuccess;
}

cudaError_t launch_result(CUresult result, dim3 grid, dim3 block) {
  if (result != CUDA_ERROR_INVALID_VALUE) [[likely]]
    return result;
  return is_impossible(grid, block) ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue;
}

}  // namespace km::cudart
