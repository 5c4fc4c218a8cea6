// Operations of sparse vectors, and conversions between sparse and dense matrices.
#include "dropin/cusparse/generic/dense_conversion.h"
#include "dropin/cusparse/generic/vectors.h"

namespace km::cusparse {
namespace {

/// There is one algorithm of each conversion, number 0.
cusparseStatus_t check_algorithm(int alg) {
  return alg == 0 ? CUSPARSE_STATUS_SUCCESS : invalid("alg is %d", alg);
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void* alpha,
                               cusparseConstSpVecDescr_t x, const void* beta,
                               cusparseDnVecDescr_t y) {
  return call(handle, [&](Handle& h) { return add_scaled(h, alpha, x, beta, y); });
}
cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y,
                                cusparseSpVecDescr_t x) {
  return call(handle, [&](Handle& h) { return gather(h, y, x); });
}
cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x,
                                 cusparseDnVecDescr_t y) {
  return call(handle, [&](Handle& h) { return scatter(h, x, y); });
}
cusparseStatus_t cusparseRot(cusparseHandle_t handle, const void* c, const void* s,
                             cusparseSpVecDescr_t x, cusparseDnVecDescr_t y) {
  return call(handle, [&](Handle& h) { return rotate(h, c, s, x, y); });
}

cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                         cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                                         const void*, cudaDataType compute, size_t* size) {
  return call(handle, [&](Handle&) -> cusparseStatus_t {
    LIB_TRY(check_dot({op, x, y, compute}));
    return give("bufferSize", size, kNoWorkspace);
  });
}
cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t op,
                              cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                              void* result, cudaDataType compute, void*) {
  return call(handle, [&](Handle& h) { return dot(h, {op, x, y, compute}, result); });
}

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle,
                                                  cusparseConstSpMatDescr_t a,
                                                  cusparseDnMatDescr_t b,
                                                  cusparseSparseToDenseAlg_t alg, size_t* size) {
  return call(handle, [&](Handle&) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg));
    LIB_TRY(check_to_dense(a, b));
    return give("bufferSize", size, kNoWorkspace);
  });
}
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                                       cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t alg,
                                       void*) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg));
    return sparse_to_dense(h, a, b);
  });
}

cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle,
                                                  cusparseConstDnMatDescr_t a,
                                                  cusparseSpMatDescr_t b,
                                                  cusparseDenseToSparseAlg_t alg, size_t* size) {
  return call(handle, [&](Handle&) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg));
    LIB_TRY(check_to_sparse(a, b));
    return give("bufferSize", size, kNoWorkspace);
  });
}
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle,
                                                cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b,
                                                cusparseDenseToSparseAlg_t alg, void*) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg));
    return count_nonzeros(h, a, b);
  });
}
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b,
                                               cusparseDenseToSparseAlg_t alg, void*) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg));
    return dense_to_sparse(h, a, b);
  });
}

}  // extern "C"

}  // namespace km::cusparse
