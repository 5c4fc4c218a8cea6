// Batches of products of matrices and vectors.
#include "dropin/cublas/frame/exports.h"
#include "dropin/cublas/product/product.h"

namespace km::cublas {

#define KM_P_GEMV_BATCHED(Int, T)                                                             \
  cublasHandle_t handle, cublasOperation_t trans, Int m, Int n, const T *alpha,               \
      const T *const A[], Int lda, const T *const x[], Int incx, const T *beta, T *const y[], \
      Int incy, Int batchCount
#define KM_P_GEMV_STRIDED(Int, T)                                                               \
  cublasHandle_t handle, cublasOperation_t trans, Int m, Int n, const T *alpha, const T *A,     \
      Int lda, long long strideA, const T *x, Int incx, long long stridex, const T *beta, T *y, \
      Int incy, long long stridey, Int batchCount

namespace {

/// Sizes that the matrices and vectors of a batch share.
struct Shape {
  cublasOperation_t trans;
  int64_t m, n, lda, incx, incy;
};

cublasStatus_t set_shape(Product& product, const Shape& shape, const void* a, const void* x,
                         void* y) {
  if (shape.incx == 0 || shape.incy == 0) return invalid("an increment is 0");
  const bool plain = shape.trans == CUBLAS_OP_N;
  product.set_sizes(plain ? shape.m : shape.n, 1, plain ? shape.n : shape.m);
  product.set_a(a, shape.lda, shape.trans);
  product.set_vector_b(x, shape.incx);
  product.set_vector_c(y, shape.incy);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

#define KM_GEMV_BATCHED_BODY                                       \
  {                                                                \
    Product product(h, kTypeOf<T>);                                \
    const Shape shape{trans, m, n, lda, incx, incy};               \
    BLAS_TRY(set_shape(product, shape, A, x, const_cast<T**>(y))); \
    product.set_pointers(batchCount);                              \
    product.set_scalars(alpha, beta);                              \
    return product.submit();                                       \
  }
KM_CUBLAS_ALL(gemvBatched, , KM_P_GEMV_BATCHED, KM_GEMV_BATCHED_BODY)

#define KM_GEMV_STRIDED_BODY                                           \
  {                                                                    \
    Product product(h, kTypeOf<T>);                                    \
    const Shape shape{trans, m, n, lda, incx, incy};                   \
    BLAS_TRY(set_shape(product, shape, A, x, y));                      \
    product.set_batch(batchCount, strideA, stridex, stridey, stridey); \
    product.set_scalars(alpha, beta);                                  \
    return product.submit();                                           \
  }
KM_CUBLAS_ALL(gemvStridedBatched, , KM_P_GEMV_STRIDED, KM_GEMV_STRIDED_BODY)

// Matrices of f16 (H) or bf16 (T), sums of f32 (S), results of either.
#define KM_MIXED_BATCHED(Int, In, Out)                                                \
  cublasHandle_t handle, cublasOperation_t trans, Int m, Int n, const float *alpha,   \
      const In *const A[], Int lda, const In *const x[], Int incx, const float *beta, \
      Out *const y[], Int incy, Int batchCount
#define KM_MIXED_STRIDED(Int, In, Out)                                                           \
  cublasHandle_t handle, cublasOperation_t trans, Int m, Int n, const float *alpha, const In *A, \
      Int lda, long long strideA, const In *x, Int incx, long long stridex, const float *beta,   \
      Out *y, Int incy, long long stridey, Int batchCount

#define KM_MIXED_ONE(symbol, Int, In, Out, in_type, out_type)                                     \
  extern "C" cublasStatus_t cublas##symbol##gemvBatched##Int(                                     \
      KM_MIXED_BATCHED(KM_SIZE##Int, In, Out)) {                                                  \
    return call("cublas" #symbol "gemvBatched", handle, [&](Handle& h) -> cublasStatus_t {        \
      Product product(h, ComputeTypes{KM_DATA_TYPE_F32, CUDA_R_32F});                             \
      product.set_types(in_type, in_type, out_type, out_type);                                    \
      const Shape shape{trans, m, n, lda, incx, incy};                                            \
      BLAS_TRY(set_shape(product, shape, A, x, const_cast<Out**>(y)));                            \
      product.set_pointers(batchCount);                                                           \
      product.set_scalars(alpha, beta);                                                           \
      return product.submit();                                                                    \
    });                                                                                           \
  }                                                                                               \
  extern "C" cublasStatus_t cublas##symbol##gemvStridedBatched##Int(                              \
      KM_MIXED_STRIDED(KM_SIZE##Int, In, Out)) {                                                  \
    return call("cublas" #symbol "gemvStridedBatched", handle, [&](Handle& h) -> cublasStatus_t { \
      Product product(h, ComputeTypes{KM_DATA_TYPE_F32, CUDA_R_32F});                             \
      product.set_types(in_type, in_type, out_type, out_type);                                    \
      const Shape shape{trans, m, n, lda, incx, incy};                                            \
      BLAS_TRY(set_shape(product, shape, A, x, y));                                               \
      product.set_batch(batchCount, strideA, stridex, stridey, stridey);                          \
      product.set_scalars(alpha, beta);                                                           \
      return product.submit();                                                                    \
    });                                                                                           \
  }
#define KM_SIZE int
#define KM_SIZE_64 int64_t
#define KM_MIXED(symbol, In, Out, in_type, out_type) \
  KM_MIXED_ONE(symbol, , In, Out, in_type, out_type) \
  KM_MIXED_ONE(symbol, _64, In, Out, in_type, out_type)
KM_MIXED(HSH, __half, __half, CUDA_R_16F, CUDA_R_16F)
KM_MIXED(HSS, __half, float, CUDA_R_16F, CUDA_R_32F)
KM_MIXED(TST, __nv_bfloat16, __nv_bfloat16, CUDA_R_16BF, CUDA_R_16BF)
KM_MIXED(TSS, __nv_bfloat16, float, CUDA_R_16BF, CUDA_R_32F)

}  // namespace km::cublas
