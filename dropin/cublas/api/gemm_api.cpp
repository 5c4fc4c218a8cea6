// Products of general matrices: single ones, batches with strides and batches by pointers.
#include "dropin/cublas/frame/exports.h"
#include "dropin/cublas/product/product.h"

namespace km::cublas {

#define KM_P_GEMM(Int, T)                                                                         \
  cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, Int k, \
      const T *alpha, const T *A, Int lda, const T *B, Int ldb, const T *beta, T *C, Int ldc
#define KM_P_STRIDED(Int, T)                                                                      \
  cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, Int k, \
      const T *alpha, const T *A, Int lda, long long strideA, const T *B, Int ldb,                \
      long long strideB, const T *beta, T *C, Int ldc, long long strideC, Int batchCount
#define KM_P_BATCHED(Int, T)                                                                      \
  cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, Int k, \
      const T *alpha, const T *const A[], Int lda, const T *const B[], Int ldb, const T *beta,    \
      T *const C[], Int ldc, Int batchCount

#define KM_SET_OPERANDS(product) \
  product.set_sizes(m, n, k);    \
  product.set_a(A, lda, transa); \
  product.set_b(B, ldb, transb); \
  product.set_scalars(alpha, beta)

#define KM_GEMM_BODY                \
  {                                 \
    Product product(h, kTypeOf<T>); \
    KM_SET_OPERANDS(product);       \
    product.set_c(C, ldc);          \
    return product.submit();        \
  }
KM_CUBLAS_ALL(gemm, _v2, KM_P_GEMM, KM_GEMM_BODY)
KM_CUBLAS_COMPLEX(gemm3m, , KM_P_GEMM, KM_GEMM_BODY)

#define KM_STRIDED_BODY                                                \
  {                                                                    \
    Product product(h, kTypeOf<T>);                                    \
    KM_SET_OPERANDS(product);                                          \
    product.set_c(C, ldc);                                             \
    product.set_batch(batchCount, strideA, strideB, strideC, strideC); \
    return product.submit();                                           \
  }
KM_CUBLAS_ALL(gemmStridedBatched, , KM_P_STRIDED, KM_STRIDED_BODY)
KM_CUBLAS_ONE(cublasCgemm3mStridedBatched, KM_P_STRIDED, cuComplex, KM_STRIDED_BODY)

#define KM_BATCHED_BODY                     \
  {                                         \
    Product product(h, kTypeOf<T>);         \
    KM_SET_OPERANDS(product);               \
    product.set_c(const_cast<T**>(C), ldc); \
    product.set_pointers(batchCount);       \
    return product.submit();                \
  }
KM_CUBLAS_ALL(gemmBatched, , KM_P_BATCHED, KM_BATCHED_BODY)
KM_CUBLAS_ONE(cublasCgemm3mBatched, KM_P_BATCHED, cuComplex, KM_BATCHED_BODY)

namespace {

constexpr ComputeTypes kHalfTypes = {KM_DATA_TYPE_F32, CUDA_R_16F};

void set_halves(Product& product) {
  product.set_types(CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F);
}

}  // namespace

KM_CUBLAS_ONE(cublasHgemm, KM_P_GEMM, __half, {
  Product product(h, kHalfTypes);
  set_halves(product);
  KM_SET_OPERANDS(product);
  product.set_c(C, ldc);
  return product.submit();
})
KM_CUBLAS_ONE(cublasHgemmStridedBatched, KM_P_STRIDED, __half, {
  Product product(h, kHalfTypes);
  set_halves(product);
  KM_SET_OPERANDS(product);
  product.set_c(C, ldc);
  product.set_batch(batchCount, strideA, strideB, strideC, strideC);
  return product.submit();
})
KM_CUBLAS_ONE(cublasHgemmBatched, KM_P_BATCHED, __half, {
  Product product(h, kHalfTypes);
  set_halves(product);
  KM_SET_OPERANDS(product);
  product.set_c(const_cast<T**>(C), ldc);
  product.set_pointers(batchCount);
  return product.submit();
})

}  // namespace km::cublas
