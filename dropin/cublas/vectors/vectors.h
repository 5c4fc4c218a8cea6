// Calls of the kernels of level 1.
#pragma once

#include "dropin/cublas/frame/request.h"
#include "dropin/cublas/kernels/parameters.h"

namespace km::cublas {

/// One call on one or two vectors. A negative increment begins at the vector's end, as in BLAS.
class VectorCall {
 public:
  VectorCall(Handle& handle, VectorOperation operation) : handle_(handle) {
    parameters_.operation = operation;
  }
  cublasStatus_t set_x(const void* x, int type, int64_t count, int64_t increment);
  cublasStatus_t set_y(const void* y, int type, int64_t increment);
  /// Scalars in the handle's pointer mode.
  cublasStatus_t set_alpha(const char* name, const void* value, int type);
  cublasStatus_t set_beta(const char* name, const void* value, int type);

  /// One thread for each element.
  cublasStatus_t map(const char* kernel);
  /// One block; the result, of `size_bytes`, goes where the pointer mode says. `type` is a type of
  /// numbers, or of an index its bytes.
  cublasStatus_t reduce(const char* kernel, void* result, int type, uint32_t size_bytes);

 private:
  cublasStatus_t set(const char* name, const void* data, int type, int64_t increment,
                     unsigned long long* address, long long* step);
  cublasStatus_t set_scalar(const char* name, const void* value, int type, DeviceScalar* out);
  cublasStatus_t check_arrays() const;

  Handle& handle_;
  VectorParameters parameters_{};
};

/// Refuses results for the host when the stream is captured: nothing is queued then.
cublasStatus_t require_no_capture(const Handle& handle);
/// Gives a result that work of the stream has left at `device` to the place of the pointer mode.
cublasStatus_t give_result(Handle& handle, uint64_t device, void* result, uint32_t size_bytes);

}  // namespace km::cublas
