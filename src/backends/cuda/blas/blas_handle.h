// Handles of cuBLAS for calls in one context.
#pragma once

#include "backends/cuda/context/epoch.h"
#include "backends/cuda/driver/cublas.h"

namespace km::cuda {

/// The error of a call that failed: of the context where that has failed, else cuBLAS's own, with
/// the cublasStatus_t as its native code.
Status check_blas(Epoch& epoch, BlasCalled called);

/// A handle that nobody else uses, until Epoch::give_blas_handle(). With the context current; where
/// none is left, one is made, which takes milliseconds, and memory of the device.
Result<BlasHandle> take_blas_handle(Epoch& epoch, const Cublas& library);

}  // namespace km::cuda
