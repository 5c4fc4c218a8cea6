// The library's own kernels, for operations that neither the driver nor cuBLAS has.
#pragma once

#include <cstdint>

#include "backends/cuda/driver/status.h"

namespace km::cuda {

class Epoch;

enum class OwnKernel : uint8_t {
  blas_index,  // (place): converts cuBLAS's index to the library's
  memory_op    // (place, value, kind, size_bytes): one kmb_memory_op
};
constexpr int kOwnKernelCount = 2;

/// The module of these kernels in one epoch. Callers must serialise calls.
class OwnKernels {
 public:
  /// Returns the kernel and loads the module at the first call. The context must be current.
  Result<cu::CUfunction> get(Epoch& epoch, OwnKernel which);
  /// The context must be current and must not have failed.
  void unload();

 private:
  cu::CUmodule module_ = nullptr;
  cu::CUfunction kernels_[kOwnKernelCount] = {};
};

/// Loads the code of a kernel now. With CUDA_MODULE_LOADING=LAZY (from CUDA 12.4 on) the driver
/// would load it at the first launch, which waits for queued work: a deadlock if that work waits
/// for the host.
Status load_now(Epoch& epoch, cu::CUfunction kernel);

}  // namespace km::cuda
