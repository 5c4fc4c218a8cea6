// GEMM: single products, strided batches and batches by arrays of pointers.
#include "dropin/cublas/frame/exports.h"
#include "dropin/cublas/product/product.h"

namespace km::cublas {

#define KM_P_GEMM(P, Int, T)                                                                   \
  P(cublasOperation_t, transa), P(cublasOperation_t, transb), P(Int, m), P(Int, n), P(Int, k), \
      P(const T*, alpha), P(const T*, A), P(Int, lda), P(const T*, B), P(Int, ldb),            \
      P(const T*, beta), P(T*, C), P(Int, ldc)
#define KM_P_STRIDED(P, Int, T)                                                                \
  P(cublasOperation_t, transa), P(cublasOperation_t, transb), P(Int, m), P(Int, n), P(Int, k), \
      P(const T*, alpha), P(const T*, A), P(Int, lda), P(long long, strideA), P(const T*, B),  \
      P(Int, ldb), P(long long, strideB), P(const T*, beta), P(T*, C), P(Int, ldc),            \
      P(long long, strideC), P(Int, batchCount)
#define KM_P_BATCHED(P, Int, T)                                                                   \
  P(cublasOperation_t, transa), P(cublasOperation_t, transb), P(Int, m), P(Int, n), P(Int, k),    \
      P(const T*, alpha), P(const T* const*, A), P(Int, lda), P(const T* const*, B), P(Int, ldb), \
      P(const T*, beta), P(T* const*, C), P(Int, ldc), P(Int, batchCount)

namespace {

/// A product whose matrices and scalars all have type T.
template <class T>
Product product_of(Handle& h, const GemmArguments& arguments) {
  Product product(h, kTypeOf<T>);
  product.set_gemm(arguments);
  return product;
}
/// Half precision: the scalars are halves, but sums are computed in f32.
template <>
Product product_of<__half>(Handle& h, const GemmArguments& arguments) {
  Product product(h, ComputeTypes{KM_DATA_TYPE_F32, CUDA_R_16F});
  product.set_types(CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F);
  product.set_gemm(arguments);
  return product;
}

template <class T, class Int>
cublasStatus_t gemm(Handle& h, KM_P_GEMM(KM_DECLARE, Int, T)) {
  return product_of<T>(h, {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc}).submit();
}

template <class T, class Int>
cublasStatus_t gemm_strided(Handle& h, KM_P_STRIDED(KM_DECLARE, Int, T)) {
  Product product =
      product_of<T>(h, {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc});
  product.set_batch(batchCount, strideA, strideB, strideC, strideC);
  return product.submit();
}

template <class T, class Int>
cublasStatus_t gemm_batched(Handle& h, KM_P_BATCHED(KM_DECLARE, Int, T)) {
  Product product = product_of<T>(
      h, {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, const_cast<T**>(C), ldc});
  product.set_pointers(batchCount);
  return product.submit();
}

}  // namespace

KM_EXPORT_ALL(gemm, _v2, KM_P_GEMM, gemm)
KM_EXPORT_COMPLEX(gemm3m, , KM_P_GEMM, gemm)
KM_EXPORT(cublasHgemm, KM_P_GEMM, __half, gemm)
KM_EXPORT_ALL(gemmStridedBatched, , KM_P_STRIDED, gemm_strided)
KM_EXPORT(cublasCgemm3mStridedBatched, KM_P_STRIDED, cuComplex, gemm_strided)
KM_EXPORT(cublasHgemmStridedBatched, KM_P_STRIDED, __half, gemm_strided)
KM_EXPORT_ALL(gemmBatched, , KM_P_BATCHED, gemm_batched)
KM_EXPORT(cublasCgemm3mBatched, KM_P_BATCHED, cuComplex, gemm_batched)
KM_EXPORT(cublasHgemmBatched, KM_P_BATCHED, __half, gemm_batched)

}  // namespace km::cublas
