// Takes cuBLAS handles for calls in one context.
#pragma once

#include "backends/cuda/context/epoch.h"
#include "backends/cuda/driver/cublas.h"

namespace km::cuda {

/// The error of a failed call of a library: the context's if that has failed, otherwise the
/// library's own.
Error library_error(Epoch& epoch, Error own);

/// The error of a failed call: the context's if that has failed, otherwise cuBLAS's with the
/// cublasStatus_t as native code.
Status check_blas(Epoch& epoch, BlasCalled called);

/// Returns a handle for exclusive use until give_blas_handle(). The context must be current.
/// If no handle is free, it creates one, which takes milliseconds and device memory.
Result<BlasHandle> take_blas_handle(Epoch& epoch, const Cublas& library);
/// Returns a handle whose calls are all over.
void give_blas_handle(Epoch& epoch, BlasHandle handle);

}  // namespace km::cuda
