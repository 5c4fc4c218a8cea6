// The first API of 64-bit sizes, of CUDA 11 and 12, whose workspaces lie on the device alone. Its
// functions are those of the API that took its place, by which they are run.
#include "dropin/cusolver/frame/job.h"

namespace km::cusolver {

namespace {

cusolverStatus_t give_bytes(const char* function, cusolverDnHandle_t handle, size_t* place) {
  return call(function, handle, [&](DnHandle&) {
    return write_value("workspaceInBytes", place, size_t{kWorkBytes});
  });
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverDnPotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                            cublasFillMode_t, int64_t, cudaDataType, const void*,
                                            int64_t, cudaDataType, size_t* bytes) {
  return give_bytes(__func__, handle, bytes);
}
cusolverStatus_t cusolverDnPotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                 cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a,
                                 int64_t lda, cudaDataType compute, void* work, size_t bytes,
                                 int* info) {
  return cusolverDnXpotrf(handle, params, uplo, n, type, a, lda, compute, work, bytes, nullptr, 0,
                          info);
}
cusolverStatus_t cusolverDnPotrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                 cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType type,
                                 const void* a, int64_t lda, cudaDataType b_type, void* b,
                                 int64_t ldb, int* info) {
  return cusolverDnXpotrs(handle, params, uplo, n, nrhs, type, a, lda, b_type, b, ldb, info);
}

cusolverStatus_t cusolverDnGeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t,
                                            int64_t, cudaDataType, const void*, int64_t,
                                            cudaDataType, const void*, cudaDataType,
                                            size_t* bytes) {
  return give_bytes(__func__, handle, bytes);
}
cusolverStatus_t cusolverDnGeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
                                 int64_t n, cudaDataType type, void* a, int64_t lda,
                                 cudaDataType tau_type, void* tau, cudaDataType compute, void* work,
                                 size_t bytes, int* info) {
  return cusolverDnXgeqrf(handle, params, m, n, type, a, lda, tau_type, tau, compute, work, bytes,
                          nullptr, 0, info);
}

cusolverStatus_t cusolverDnGetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t,
                                            int64_t, cudaDataType, const void*, int64_t,
                                            cudaDataType, size_t* bytes) {
  return give_bytes(__func__, handle, bytes);
}
cusolverStatus_t cusolverDnGetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
                                 int64_t n, cudaDataType type, void* a, int64_t lda,
                                 int64_t* pivots, cudaDataType compute, void* work, size_t bytes,
                                 int* info) {
  return cusolverDnXgetrf(handle, params, m, n, type, a, lda, pivots, compute, work, bytes, nullptr,
                          0, info);
}
cusolverStatus_t cusolverDnGetrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                 cublasOperation_t trans, int64_t n, int64_t nrhs,
                                 cudaDataType type, const void* a, int64_t lda,
                                 const int64_t* pivots, cudaDataType b_type, void* b, int64_t ldb,
                                 int* info) {
  return cusolverDnXgetrs(handle, params, trans, n, nrhs, type, a, lda, pivots, b_type, b, ldb,
                          info);
}

cusolverStatus_t cusolverDnSyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                            cusolverEigMode_t, cublasFillMode_t, int64_t,
                                            cudaDataType, const void*, int64_t, cudaDataType,
                                            const void*, cudaDataType, size_t* bytes) {
  return give_bytes(__func__, handle, bytes);
}
cusolverStatus_t cusolverDnSyevd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                 cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                 cudaDataType type, void* a, int64_t lda, cudaDataType w_type,
                                 void* w, cudaDataType compute, void* work, size_t bytes,
                                 int* info) {
  return cusolverDnXsyevd(handle, params, jobz, uplo, n, type, a, lda, w_type, w, compute, work,
                          bytes, nullptr, 0, info);
}

cusolverStatus_t cusolverDnSyevdx_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                             cusolverEigMode_t, cusolverEigRange_t,
                                             cublasFillMode_t, int64_t, cudaDataType, const void*,
                                             int64_t, void*, void*, int64_t, int64_t, int64_t*,
                                             cudaDataType, const void*, cudaDataType,
                                             size_t* bytes) {
  return give_bytes(__func__, handle, bytes);
}
cusolverStatus_t cusolverDnSyevdx(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                  cusolverEigMode_t jobz, cusolverEigRange_t range,
                                  cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a,
                                  int64_t lda, void* vl, void* vu, int64_t il, int64_t iu,
                                  int64_t* meig, cudaDataType w_type, void* w, cudaDataType compute,
                                  void* work, size_t bytes, int* info) {
  return cusolverDnXsyevdx(handle, params, jobz, range, uplo, n, type, a, lda, vl, vu, il, iu, meig,
                           w_type, w, compute, work, bytes, nullptr, 0, info);
}

cusolverStatus_t cusolverDnGesvd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                            signed char, signed char, int64_t, int64_t,
                                            cudaDataType, const void*, int64_t, cudaDataType,
                                            const void*, cudaDataType, const void*, int64_t,
                                            cudaDataType, const void*, int64_t, cudaDataType,
                                            size_t* bytes) {
  return give_bytes(__func__, handle, bytes);
}
cusolverStatus_t cusolverDnGesvd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                 signed char jobu, signed char jobvt, int64_t m, int64_t n,
                                 cudaDataType type, void* a, int64_t lda, cudaDataType s_type,
                                 void* s, cudaDataType u_type, void* u, int64_t ldu,
                                 cudaDataType vt_type, void* vt, int64_t ldvt, cudaDataType compute,
                                 void* work, size_t bytes, int* info) {
  return cusolverDnXgesvd(handle, params, jobu, jobvt, m, n, type, a, lda, s_type, s, u_type, u,
                          ldu, vt_type, vt, ldvt, compute, work, bytes, nullptr, 0, info);
}

}  // extern "C"

}  // namespace km::cusolver
