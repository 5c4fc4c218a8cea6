// Launches of level 1 kernels.
#pragma once

#include "dropin/cublas/frame/request.h"
#include "dropin/cublas/kernels/parameters.h"

namespace km::cublas {

/// A kernel call on one or two vectors. With a negative increment a vector begins at its end, as in
/// BLAS.
class VectorCall {
 public:
  VectorCall(Handle& handle, VectorOperation operation) : handle_(handle) {
    parameters_.operation = operation;
  }
  cublasStatus_t set_x(const void* x, int type, int64_t count, int64_t increment);
  cublasStatus_t set_y(const void* y, int type, int64_t increment);
  /// Sets a scalar in the handle's pointer mode.
  cublasStatus_t set_alpha(const char* name, const void* value, int type);
  cublasStatus_t set_beta(const char* name, const void* value, int type);

  /// Launches the kernel with one thread per element.
  cublasStatus_t map(const char* kernel);
  /// Launches the kernel with one block. The result, of `size_bytes`, is stored according to the
  /// pointer mode. `type` is the result's type, or the size of an index.
  cublasStatus_t reduce(const char* kernel, void* result, int type, uint32_t size_bytes);

 private:
  cublasStatus_t set(const char* name, const void* data, int type, int64_t increment,
                     unsigned long long* address, long long* step);
  cublasStatus_t set_scalar(const char* name, const void* value, int type, DeviceScalar* out);
  cublasStatus_t check_arrays() const;

  Handle& handle_;
  VectorParameters parameters_{};
};

/// Fails for results in host memory if the stream is being captured, when the result would not
/// exist yet.
cublasStatus_t require_no_capture(const Handle& handle);
/// Moves a result in device memory to the place that the pointer mode selects.
cublasStatus_t give_result(Handle& handle, uint64_t device, void* result, uint32_t size_bytes);

}  // namespace km::cublas
