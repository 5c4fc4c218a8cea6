// Products with sparse vectors and BSR matrices.
#include "dropin/cusparse/legacy/dense_times_sparse.h"
#include "dropin/cusparse/legacy/exports.h"

namespace km::cusparse {

extern "C" {

#define KM_GEMVI(L, T)                                                                            \
  cusparseStatus_t cusparse##L##gemvi_bufferSize(cusparseHandle_t handle, cusparseOperation_t,    \
                                                 int m, int n, int nnz, int* size) {              \
    return call(handle, [&](Handle&) -> cusparseStatus_t {                                        \
      LIB_TRY(check_sizes({m, n, nnz}));                                                          \
      return give("pBufferSize", size, static_cast<int>(kNoWorkspace));                           \
    });                                                                                           \
  }                                                                                               \
  cusparseStatus_t cusparse##L##gemvi(cusparseHandle_t handle, cusparseOperation_t operation,     \
                                      int m, int n, const T* alpha, const T* a, int lda, int nnz, \
                                      const T* x, const int* indices, const T* beta, T* y,        \
                                      cusparseIndexBase_t base, void*) {                          \
    return call(handle, [&](Handle& h) {                                                          \
      return gemvi(h, kExportType<T>,                                                             \
                   {operation, m, n, alpha, a, lda, nnz, x, indices, beta, y, base});             \
    });                                                                                           \
  }
KM_FOR_ALL_TYPES(KM_GEMVI)

#define KM_BSRMV(L, T)                                                                            \
  cusparseStatus_t cusparse##L##bsrmv(cusparseHandle_t handle, cusparseDirection_t direction,     \
                                      cusparseOperation_t operation, int mb, int nb, int nnzb,    \
                                      const T* alpha, const cusparseMatDescr_t settings,          \
                                      const T* values, const int* offsets, const int* indices,    \
                                      int block, const T* x, const T* beta, T* y) {               \
    return call(handle, [&](Handle& h) {                                                          \
      return bsrmv(h, kExportType<T>,                                                             \
                   {direction, mb, nb, nnzb, settings, {values, offsets, indices}, block},        \
                   operation, alpha, x, beta, y);                                                 \
    });                                                                                           \
  }                                                                                               \
  cusparseStatus_t cusparse##L##bsrxmv(                                                           \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t operation,      \
      int mask_size, int mb, int nb, int nnzb, const T* alpha, const cusparseMatDescr_t settings, \
      const T* values, const int* mask, const int* offsets, const int* ends, const int* indices,  \
      int block, const T* x, const T* beta, T* y) {                                               \
    return call(handle, [&](Handle& h) {                                                          \
      return bsrxmv(h, kExportType<T>,                                                            \
                    {direction, mb, nb, nnzb, settings, {values, offsets, indices}, block},       \
                    {operation, mask_size, alpha, mask, ends, x, beta, y});                       \
    });                                                                                           \
  }                                                                                               \
  cusparseStatus_t cusparse##L##bsrmm(                                                            \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t operation_a,    \
      cusparseOperation_t operation_b, int mb, int n, int kb, int nnzb, const T* alpha,           \
      const cusparseMatDescr_t settings, const T* values, const int* offsets, const int* indices, \
      const int block, const T* b, const int ldb, const T* beta, T* c, int ldc) {                 \
    return call(handle, [&](Handle& h) {                                                          \
      return bsrmm(h, kExportType<T>,                                                             \
                   {direction, mb, kb, nnzb, settings, {values, offsets, indices}, block},        \
                   {operation_a, operation_b, n, alpha, b, ldb, beta, c, ldc});                   \
    });                                                                                           \
  }
KM_FOR_ALL_TYPES(KM_BSRMV)

}  // extern "C"

}  // namespace km::cusparse
