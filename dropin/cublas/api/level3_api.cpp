// BLAS of level 3 but for the products of general matrices.
#include "dropin/cublas/frame/exports.h"
#include "dropin/cublas/product/product.h"

namespace km::cublas {

#define KM_P_SYMM(Int, T)                                                            \
  cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, Int m, Int n, \
      const T *alpha, const T *A, Int lda, const T *B, Int ldb, const T *beta, T *C, Int ldc
#define KM_P_SYRK(Int, T)                                                              \
  cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, Int n, Int k, \
      const T *alpha, const T *A, Int lda, const T *beta, T *C, Int ldc
#define KM_P_HERK(Int, T)                                                              \
  cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, Int n, Int k, \
      const Real<T>*alpha, const T *A, Int lda, const Real<T>*beta, T *C, Int ldc
#define KM_P_SYR2K(Int, T)                                                             \
  cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, Int n, Int k, \
      const T *alpha, const T *A, Int lda, const T *B, Int ldb, const T *beta, T *C, Int ldc
#define KM_P_HER2K(Int, T)                                                             \
  cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, Int n, Int k, \
      const T *alpha, const T *A, Int lda, const T *B, Int ldb, const Real<T>*beta, T *C, Int ldc
#define KM_P_TRMM(Int, T)                                                                       \
  cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans, \
      cublasDiagType_t diag, Int m, Int n, const T *alpha, const T *A, Int lda, const T *B,     \
      Int ldb, T *C, Int ldc
#define KM_P_TRSM(Int, T)                                                                       \
  cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans, \
      cublasDiagType_t diag, Int m, Int n, const T *alpha, const T *A, Int lda, T *B, Int ldb

#define KM_SYMM_BODY(routine)                               \
  {                                                         \
    const int64_t order = side == CUBLAS_SIDE_LEFT ? m : n; \
    return Request(h, routine, kTypeOf<T>)                  \
        .side(side)                                         \
        .triangle(uplo)                                     \
        .m(m)                                               \
        .n(n)                                               \
        .alpha(alpha)                                       \
        .a(A, lda, order, order)                            \
        .b(B, ldb, m, n)                                    \
        .beta(beta)                                         \
        .c_written(C, ldc, m, n)                            \
        .submit();                                          \
  }
KM_CUBLAS_ALL(symm, _v2, KM_P_SYMM, KM_SYMM_BODY(KMB_BLAS_SYMM))
KM_CUBLAS_COMPLEX(hemm, _v2, KM_P_SYMM, KM_SYMM_BODY(KMB_BLAS_HEMM))

namespace {

/// Complex routines of this kind know one transposition only.
cublasStatus_t check_transposition(km_data_type type, cublasOperation_t trans,
                                   cublasOperation_t known) {
  if (!is_complex(type) || trans == CUBLAS_OP_N || trans == known) return CUBLAS_STATUS_SUCCESS;
  return invalid("trans is %d; it can be 0 or %d here", static_cast<int>(trans),
                 static_cast<int>(known));
}

}  // namespace

#define KM_SYRK_BODY(routine, known, scalar_alpha, scalar_beta)      \
  {                                                                  \
    return Request(h, routine, kTypeOf<T>)                           \
        .triangle(uplo)                                              \
        .operation("trans", trans)                                   \
        .fail(check_transposition(kTypeOf<T>, trans, known))         \
        .n(n)                                                        \
        .k(k)                                                        \
        .scalar_alpha(alpha)                                         \
        .a(A, lda, is_plain(trans) ? n : k, is_plain(trans) ? k : n) \
        .scalar_beta(beta)                                           \
        .c_written(C, ldc, n, n)                                     \
        .submit();                                                   \
  }
KM_CUBLAS_ALL(syrk, _v2, KM_P_SYRK, KM_SYRK_BODY(KMB_BLAS_SYRK, CUBLAS_OP_T, alpha, beta))
KM_CUBLAS_COMPLEX(herk, _v2, KM_P_HERK,
                  KM_SYRK_BODY(KMB_BLAS_HERK, CUBLAS_OP_C, real_alpha, real_beta))

#define KM_SYR2K_BODY(routine, known, scalar_beta)                   \
  {                                                                  \
    return Request(h, routine, kTypeOf<T>)                           \
        .triangle(uplo)                                              \
        .operation("trans", trans)                                   \
        .fail(check_transposition(kTypeOf<T>, trans, known))         \
        .n(n)                                                        \
        .k(k)                                                        \
        .alpha(alpha)                                                \
        .a(A, lda, is_plain(trans) ? n : k, is_plain(trans) ? k : n) \
        .b(B, ldb, is_plain(trans) ? n : k, is_plain(trans) ? k : n) \
        .scalar_beta(beta)                                           \
        .c_written(C, ldc, n, n)                                     \
        .submit();                                                   \
  }
KM_CUBLAS_ALL(syr2k, _v2, KM_P_SYR2K, KM_SYR2K_BODY(KMB_BLAS_SYR2K, CUBLAS_OP_T, beta))
KM_CUBLAS_COMPLEX(her2k, _v2, KM_P_HER2K, KM_SYR2K_BODY(KMB_BLAS_HER2K, CUBLAS_OP_C, real_beta))

// One triangle of alpha op(A) op(B)^T + beta C.
#define KM_SYRKX_BODY(conjugation, is_hermitian)                   \
  {                                                                \
    BLAS_TRY(check_transposition(kTypeOf<T>, trans, conjugation)); \
    Product product(h, kTypeOf<T>);                                \
    const bool plain = is_plain(trans);                            \
    product.set_sizes(n, n, k);                                    \
    product.set_a(A, lda, plain ? CUBLAS_OP_N : conjugation);      \
    product.set_b(B, ldb, plain ? conjugation : CUBLAS_OP_N);      \
    product.set_c(C, ldc);                                         \
    product.set_triangle(uplo, is_hermitian);                      \
    product.set_scalars(alpha, beta, is_hermitian);                \
    return product.submit();                                       \
  }
KM_CUBLAS_ALL(syrkx, , KM_P_SYR2K, KM_SYRKX_BODY(CUBLAS_OP_T, false))
KM_CUBLAS_COMPLEX(herkx, , KM_P_HER2K, KM_SYRKX_BODY(CUBLAS_OP_C, true))

namespace {

/// C = B for matrices of numbers, in stream order.
cublasStatus_t copy_matrix(Handle& h, uint32_t element_bytes, int64_t m, int64_t n,
                           const void* from, int64_t from_leading, void* to, int64_t to_leading) {
  cu::CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = cu::CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = reinterpret_cast<cu::CUdeviceptr>(from);
  copy.dstDevice = reinterpret_cast<cu::CUdeviceptr>(to);
  copy.srcPitch = static_cast<size_t>(from_leading) * element_bytes;
  copy.dstPitch = static_cast<size_t>(to_leading) * element_bytes;
  copy.WidthInBytes = static_cast<size_t>(m) * element_bytes;
  copy.Height = static_cast<size_t>(n);
  return status_of(h.driver->cuMemcpy2DAsync_v2(&copy, h.stream));
}

}  // namespace

KM_CUBLAS_ALL(trmm, _v2, KM_P_TRMM, {
  const int64_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  Request request(h, KMB_BLAS_TRMM, kTypeOf<T>);
  request.side(side)
      .triangle(uplo)
      .operation("trans", trans)
      .diagonal(diag)
      .m(m)
      .n(n)
      .alpha(alpha)
      .a(A, lda, order, order)
      .b_written(C, ldc, m, n);
  BLAS_TRY(request.status());
  if (request.is_empty()) return CUBLAS_STATUS_SUCCESS;
  BLAS_REQUIRE(B);
  if (ldb < m)
    return invalid("ldb is %lld; columns of B have %lld elements", static_cast<long long>(ldb),
                   static_cast<long long>(m));
  if (B != C) {
    BLAS_TRY(copy_matrix(h, sizeof(T), m, n, B, ldb, C, ldc));
  } else if (ldb != ldc) {
    return invalid("B is C, but ldb is not ldc");
  }
  return request.submit();
})

KM_CUBLAS_ALL(trsm, _v2, KM_P_TRSM, {
  const int64_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  return Request(h, KMB_BLAS_TRSM, kTypeOf<T>)
      .side(side)
      .triangle(uplo)
      .operation("trans", trans)
      .diagonal(diag)
      .m(m)
      .n(n)
      .alpha(alpha)
      .a(A, lda, order, order)
      .b_written(B, ldb, m, n)
      .submit();
})

}  // namespace km::cublas
