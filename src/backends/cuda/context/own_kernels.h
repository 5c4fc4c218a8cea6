// Kernels of the library's own, for what neither the driver nor cuBLAS does.
#pragma once

#include <cstdint>

#include "backends/cuda/driver/status.h"

namespace km::cuda {

class Epoch;

enum class OwnKernel : uint8_t {
  blas_index,  // (place): from an index as cuBLAS writes it to one of ours
  memory_op    // (place, value, kind, size_bytes): one kmb_memory_op
};
constexpr int kOwnKernelCount = 2;

/// The module of these kernels in one epoch. The caller serialises calls.
class OwnKernels {
 public:
  /// The kernel, loaded at the first need. With the context current.
  Result<cu::CUfunction> get(Epoch& epoch, OwnKernel which);
  /// With the context current, which has not failed.
  void unload();

 private:
  cu::CUmodule module_ = nullptr;
  cu::CUfunction kernels_[kOwnKernelCount] = {};
};

/// Loads a kernel that was looked up: where the driver loads kernels at their first launch
/// (CUDA_MODULE_LOADING=LAZY, from CUDA 12.4 on), that launch would wait for work under way, and so
/// for ever if that work waits for the host.
Status load_now(Epoch& epoch, cu::CUfunction kernel);

}  // namespace km::cuda
