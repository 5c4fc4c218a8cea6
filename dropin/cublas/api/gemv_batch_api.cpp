// Batched matrix-vector products.
#include "dropin/cublas/frame/exports.h"
#include "dropin/cublas/product/product.h"

namespace km::cublas {

#define KM_P_GEMV_BATCHED(P, Int, T)                                                            \
  P(cublasOperation_t, trans), P(Int, m), P(Int, n), P(const T*, alpha), P(const T* const*, A), \
      P(Int, lda), P(const T* const*, x), P(Int, incx), P(const T*, beta), P(T* const*, y),     \
      P(Int, incy), P(Int, batchCount)
#define KM_P_GEMV_STRIDED(P, Int, T)                                                           \
  P(cublasOperation_t, trans), P(Int, m), P(Int, n), P(const T*, alpha), P(const T*, A),       \
      P(Int, lda), P(long long, strideA), P(const T*, x), P(Int, incx), P(long long, stridex), \
      P(const T*, beta), P(T*, y), P(Int, incy), P(long long, stridey), P(Int, batchCount)

namespace {

/// Sizes that all matrices and vectors of a batch share.
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

/// An element type's number in the library: f16 matrices (H) and bf16 matrices (T) have sums in
/// f32.
template <class T>
inline constexpr int kCudaType = CUDA_R_32F;
template <>
inline constexpr int kCudaType<__half> = CUDA_R_16F;
template <>
inline constexpr int kCudaType<__nv_bfloat16> = CUDA_R_16BF;

/// A matrix-vector product with inputs of type In and results of type Out.
template <class In, class Out>
Product product_of(Handle& h) {
  if constexpr (kTypeOf<In> != KM_DATA_TYPE_INVALID) {
    return Product(h, kTypeOf<In>);
  } else {
    Product product(h, ComputeTypes{KM_DATA_TYPE_F32, CUDA_R_32F});
    product.set_types(kCudaType<In>, kCudaType<In>, kCudaType<Out>, kCudaType<Out>);
    return product;
  }
}

template <class Scalar, class In, class Out, class Int>
cublasStatus_t gemv_batched(Handle& h, cublasOperation_t trans, Int m, Int n, const Scalar* alpha,
                            const In* const* A, Int lda, const In* const* x, Int incx,
                            const Scalar* beta, Out* const* y, Int incy, Int batchCount) {
  Product product = product_of<In, Out>(h);
  const Shape shape{trans, m, n, lda, incx, incy};
  LIB_TRY(set_shape(product, shape, A, x, const_cast<Out**>(y)));
  product.set_pointers(batchCount);
  product.set_scalars(alpha, beta);
  return product.submit();
}

template <class Scalar, class In, class Out, class Int>
cublasStatus_t gemv_strided(Handle& h, cublasOperation_t trans, Int m, Int n, const Scalar* alpha,
                            const In* A, Int lda, long long strideA, const In* x, Int incx,
                            long long stridex, const Scalar* beta, Out* y, Int incy,
                            long long stridey, Int batchCount) {
  Product product = product_of<In, Out>(h);
  const Shape shape{trans, m, n, lda, incx, incy};
  LIB_TRY(set_shape(product, shape, A, x, y));
  product.set_batch(batchCount, strideA, stridex, stridey, stridey);
  product.set_scalars(alpha, beta);
  return product.submit();
}

}  // namespace

KM_EXPORT_ALL(gemvBatched, , KM_P_GEMV_BATCHED, gemv_batched)
KM_EXPORT_ALL(gemvStridedBatched, , KM_P_GEMV_STRIDED, gemv_strided)

// Variants with scalars in f32.
#define KM_P_MIXED_BATCHED(P, Int, In, Out)                                      \
  P(cublasOperation_t, trans), P(Int, m), P(Int, n), P(const float*, alpha),     \
      P(const In* const*, A), P(Int, lda), P(const In* const*, x), P(Int, incx), \
      P(const float*, beta), P(Out* const*, y), P(Int, incy), P(Int, batchCount)
#define KM_P_MIXED_STRIDED(P, Int, In, Out)                                                     \
  P(cublasOperation_t, trans), P(Int, m), P(Int, n), P(const float*, alpha), P(const In*, A),   \
      P(Int, lda), P(long long, strideA), P(const In*, x), P(Int, incx), P(long long, stridex), \
      P(const float*, beta), P(Out*, y), P(Int, incy), P(long long, stridey), P(Int, batchCount)
#define KM_P_HSH_BATCHED(P, Int, T) KM_P_MIXED_BATCHED(P, Int, __half, __half)
#define KM_P_HSS_BATCHED(P, Int, T) KM_P_MIXED_BATCHED(P, Int, __half, float)
#define KM_P_TST_BATCHED(P, Int, T) KM_P_MIXED_BATCHED(P, Int, __nv_bfloat16, __nv_bfloat16)
#define KM_P_TSS_BATCHED(P, Int, T) KM_P_MIXED_BATCHED(P, Int, __nv_bfloat16, float)
#define KM_P_HSH_STRIDED(P, Int, T) KM_P_MIXED_STRIDED(P, Int, __half, __half)
#define KM_P_HSS_STRIDED(P, Int, T) KM_P_MIXED_STRIDED(P, Int, __half, float)
#define KM_P_TST_STRIDED(P, Int, T) KM_P_MIXED_STRIDED(P, Int, __nv_bfloat16, __nv_bfloat16)
#define KM_P_TSS_STRIDED(P, Int, T) KM_P_MIXED_STRIDED(P, Int, __nv_bfloat16, float)

KM_EXPORT(cublasHSHgemvBatched, KM_P_HSH_BATCHED, float, gemv_batched)
KM_EXPORT(cublasHSSgemvBatched, KM_P_HSS_BATCHED, float, gemv_batched)
KM_EXPORT(cublasTSTgemvBatched, KM_P_TST_BATCHED, float, gemv_batched)
KM_EXPORT(cublasTSSgemvBatched, KM_P_TSS_BATCHED, float, gemv_batched)
KM_EXPORT(cublasHSHgemvStridedBatched, KM_P_HSH_STRIDED, float, gemv_strided)
KM_EXPORT(cublasHSSgemvStridedBatched, KM_P_HSS_STRIDED, float, gemv_strided)
KM_EXPORT(cublasTSTgemvStridedBatched, KM_P_TST_STRIDED, float, gemv_strided)
KM_EXPORT(cublasTSSgemvStridedBatched, KM_P_TSS_STRIDED, float, gemv_strided)

}  // namespace km::cublas
