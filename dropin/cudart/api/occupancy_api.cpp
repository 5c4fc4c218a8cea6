// The numbers of a kernel's blocks and clusters that a device runs at the same time.
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/module/launch.h"

namespace km::cudart {

extern "C" {

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, const void* symbol,
                                                                   int block_threads,
                                                                   size_t shared_bytes,
                                                                   unsigned flags) {
  return call_context([&]() -> cudaError_t {
    CUfunction function = nullptr;
    LIB_TRY(find_function(symbol, &function));
    return driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, function, block_threads,
                                                                       shared_bytes, flags);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* out, const void* symbol,
                                                          int block_threads, size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, symbol, block_threads,
                                                                shared_bytes, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* out, const void* symbol, int blocks,
                                                      int block_threads) {
  return call_context([&]() -> cudaError_t {
    CUfunction function = nullptr;
    LIB_TRY(find_function(symbol, &function));
    return driver.cuOccupancyAvailableDynamicSMemPerBlock(out, function, blocks, block_threads);
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* out, const void* symbol,
                                                 const cudaLaunchConfig_t* config) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(config);
    CUfunction function = nullptr;
    CUlaunchConfig given{};
    LIB_TRY(find_function(symbol, &function));
    LIB_TRY(driver_config(*config, &given));
    return driver.cuOccupancyMaxPotentialClusterSize(out, function, &given);
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* out, const void* symbol,
                                           const cudaLaunchConfig_t* config) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(config);
    CUfunction function = nullptr;
    CUlaunchConfig given{};
    LIB_TRY(find_function(symbol, &function));
    LIB_TRY(driver_config(*config, &given));
    return driver.cuOccupancyMaxActiveClusters(out, function, &given);
  });
}

}  // extern "C"

}  // namespace km::cudart
