// SDDMM. It uses no workspace.
#include "dropin/cusparse/generic/sampled_product.h"

namespace km::cusparse {
namespace {

cusparseStatus_t check_algorithm(cusparseSDDMMAlg_t alg) {
  if (alg == CUSPARSE_SDDMM_ALG_DEFAULT) return CUSPARSE_STATUS_SUCCESS;
  return invalid("alg is %d", static_cast<int>(alg));
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a,
                                          cusparseOperation_t op_b, const void* alpha,
                                          cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void* beta, cusparseSpMatDescr_t c,
                                          cudaDataType compute, cusparseSDDMMAlg_t alg,
                                          size_t* size) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg));
    LIB_TRY(check_sampled(h, {op_a, op_b, alpha, a, b, beta, c, compute}));
    return give("bufferSize", size, kNoWorkspace);
  });
}
cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t op_a,
                                          cusparseOperation_t op_b, const void* alpha,
                                          cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void* beta, cusparseSpMatDescr_t c,
                                          cudaDataType compute, cusparseSDDMMAlg_t alg, void*) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg));
    return check_sampled(h, {op_a, op_b, alpha, a, b, beta, c, compute});
  });
}
cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t op_a,
                               cusparseOperation_t op_b, const void* alpha,
                               cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                               const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                               cusparseSDDMMAlg_t alg, void*) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg));
    return multiply_sampled(h, {op_a, op_b, alpha, a, b, beta, c, compute});
  });
}

}  // extern "C"

}  // namespace km::cusparse
