// BLAS of level 2: a matrix and vectors.
#include <cstdlib>

#include "dropin/cublas/frame/exports.h"

namespace km::cublas {

#define KM_P_GEMV(Int, T)                                                                   \
  cublasHandle_t handle, cublasOperation_t trans, Int m, Int n, const T *alpha, const T *A, \
      Int lda, const T *x, Int incx, const T *beta, T *y, Int incy
#define KM_P_GBMV(Int, T)                                                                       \
  cublasHandle_t handle, cublasOperation_t trans, Int m, Int n, Int kl, Int ku, const T *alpha, \
      const T *A, Int lda, const T *x, Int incx, const T *beta, T *y, Int incy
#define KM_P_SYMV(Int, T)                                                                   \
  cublasHandle_t handle, cublasFillMode_t uplo, Int n, const T *alpha, const T *A, Int lda, \
      const T *x, Int incx, const T *beta, T *y, Int incy
#define KM_P_SBMV(Int, T)                                                                          \
  cublasHandle_t handle, cublasFillMode_t uplo, Int n, Int k, const T *alpha, const T *A, Int lda, \
      const T *x, Int incx, const T *beta, T *y, Int incy
#define KM_P_SPMV(Int, T)                                                                       \
  cublasHandle_t handle, cublasFillMode_t uplo, Int n, const T *alpha, const T *AP, const T *x, \
      Int incx, const T *beta, T *y, Int incy
#define KM_P_TRMV(Int, T)                                                                       \
  cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, \
      Int n, const T *A, Int lda, T *x, Int incx
#define KM_P_TBMV(Int, T)                                                                       \
  cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, \
      Int n, Int k, const T *A, Int lda, T *x, Int incx
#define KM_P_TPMV(Int, T)                                                                       \
  cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, \
      Int n, const T *AP, T *x, Int incx
#define KM_P_GER(Int, T)                                                                           \
  cublasHandle_t handle, Int m, Int n, const T *alpha, const T *x, Int incx, const T *y, Int incy, \
      T *A, Int lda
#define KM_P_SYR(Int, T)                                                                           \
  cublasHandle_t handle, cublasFillMode_t uplo, Int n, const T *alpha, const T *x, Int incx, T *A, \
      Int lda
#define KM_P_HER(Int, T)                                                                          \
  cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Real<T>*alpha, const T *x, Int incx, \
      T *A, Int lda
#define KM_P_HPR(Int, T)                                                                          \
  cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Real<T>*alpha, const T *x, Int incx, \
      T *AP
#define KM_P_SYR2(Int, T)                                                                    \
  cublasHandle_t handle, cublasFillMode_t uplo, Int n, const T *alpha, const T *x, Int incx, \
      const T *y, Int incy, T *A, Int lda
#define KM_P_SPR2(Int, T)                                                                    \
  cublasHandle_t handle, cublasFillMode_t uplo, Int n, const T *alpha, const T *x, Int incx, \
      const T *y, Int incy, T *AP

KM_CUBLAS_ALL(gemv, _v2, KM_P_GEMV, {
  return Request(h, KMB_BLAS_GEMV, kTypeOf<T>)
      .operation("trans", trans)
      .m(m)
      .n(n)
      .alpha(alpha)
      .a(A, lda, m, n)
      .x(x, incx, is_plain(trans) ? n : m)
      .beta(beta)
      .y(y, incy, is_plain(trans) ? m : n, true)
      .submit();
})

KM_CUBLAS_ALL(gbmv, _v2, KM_P_GBMV, {
  return Request(h, KMB_BLAS_GBMV, kTypeOf<T>)
      .operation("trans", trans)
      .m(m)
      .n(n)
      .band(kl, ku)
      .alpha(alpha)
      .a(A, lda, int64_t{kl} + ku + 1, n)
      .x(x, incx, is_plain(trans) ? n : m)
      .beta(beta)
      .y(y, incy, is_plain(trans) ? m : n, true)
      .submit();
})

#define KM_SYMV_BODY                             \
  {                                              \
    return Request(h, KMB_BLAS_SYMV, kTypeOf<T>) \
        .triangle(uplo)                          \
        .n(n)                                    \
        .alpha(alpha)                            \
        .a(A, lda, n, n)                         \
        .x(x, incx, n)                           \
        .beta(beta)                              \
        .y(y, incy, n, true)                     \
        .submit();                               \
  }
KM_CUBLAS_REAL(symv, _v2, KM_P_SYMV, KM_SYMV_BODY)
KM_CUBLAS_COMPLEX(hemv, _v2, KM_P_SYMV, KM_SYMV_BODY)

namespace {

/// Rows of matrices stand for vectors where km_blas has the routine for matrices only; then an
/// increment is a leading dimension.
cublasStatus_t check_rows(int64_t incx, int64_t incy) {
  if (incx > 0 && incy > 0) return CUBLAS_STATUS_SUCCESS;
  if (incx == 0 || incy == 0) return invalid("an increment is 0");
  return unsupported(
      "negative increments of csymv, csyr and csyr2 are not there; copy the vector by "
      "cublas<t>copy "
      "with one first");
}

}  // namespace

// y^T = alpha x^T A + beta y^T, a product of rows.
KM_CUBLAS_COMPLEX(symv, _v2, KM_P_SYMV, {
  return Request(h, KMB_BLAS_SYMM, kTypeOf<T>)
      .side(CUBLAS_SIDE_RIGHT)
      .triangle(uplo)
      .m(1)
      .n(n)
      .alpha(alpha)
      .fail(check_rows(incx, incy))
      .a(A, lda, n, n)
      .b(x, incx, 1, n)
      .beta(beta)
      .c_written(y, incy, 1, n)
      .submit();
})

#define KM_SBMV_BODY                             \
  {                                              \
    return Request(h, KMB_BLAS_SBMV, kTypeOf<T>) \
        .triangle(uplo)                          \
        .n(n)                                    \
        .k(k)                                    \
        .alpha(alpha)                            \
        .a(A, lda, int64_t{k} + 1, n)            \
        .x(x, incx, n)                           \
        .beta(beta)                              \
        .y(y, incy, n, true)                     \
        .submit();                               \
  }
KM_CUBLAS_REAL(sbmv, _v2, KM_P_SBMV, KM_SBMV_BODY)
KM_CUBLAS_COMPLEX(hbmv, _v2, KM_P_SBMV, KM_SBMV_BODY)

#define KM_SPMV_BODY                             \
  {                                              \
    return Request(h, KMB_BLAS_SPMV, kTypeOf<T>) \
        .triangle(uplo)                          \
        .n(n)                                    \
        .alpha(alpha)                            \
        .packed_a(AP, n, false)                  \
        .x(x, incx, n)                           \
        .beta(beta)                              \
        .y(y, incy, n, true)                     \
        .submit();                               \
  }
KM_CUBLAS_REAL(spmv, _v2, KM_P_SPMV, KM_SPMV_BODY)
KM_CUBLAS_COMPLEX(hpmv, _v2, KM_P_SPMV, KM_SPMV_BODY)

#define KM_TRIANGULAR(routine) \
  Request(h, routine, kTypeOf<T>).triangle(uplo).operation("trans", trans).diagonal(diag).n(n)
KM_CUBLAS_ALL(trmv, _v2, KM_P_TRMV,
              { return KM_TRIANGULAR(KMB_BLAS_TRMV).a(A, lda, n, n).x(x, incx, n, true).submit(); })
KM_CUBLAS_ALL(trsv, _v2, KM_P_TRMV,
              { return KM_TRIANGULAR(KMB_BLAS_TRSV).a(A, lda, n, n).x(x, incx, n, true).submit(); })
KM_CUBLAS_ALL(tbmv, _v2, KM_P_TBMV, {
  return KM_TRIANGULAR(KMB_BLAS_TBMV)
      .k(k)
      .a(A, lda, int64_t{k} + 1, n)
      .x(x, incx, n, true)
      .submit();
})
KM_CUBLAS_ALL(tbsv, _v2, KM_P_TBMV, {
  return KM_TRIANGULAR(KMB_BLAS_TBSV)
      .k(k)
      .a(A, lda, int64_t{k} + 1, n)
      .x(x, incx, n, true)
      .submit();
})
KM_CUBLAS_ALL(tpmv, _v2, KM_P_TPMV, {
  return KM_TRIANGULAR(KMB_BLAS_TPMV).packed_a(AP, n, false).x(x, incx, n, true).submit();
})
KM_CUBLAS_ALL(tpsv, _v2, KM_P_TPMV, {
  return KM_TRIANGULAR(KMB_BLAS_TPSV).packed_a(AP, n, false).x(x, incx, n, true).submit();
})

#define KM_GER_BODY(routine)               \
  {                                        \
    return Request(h, routine, kTypeOf<T>) \
        .m(m)                              \
        .n(n)                              \
        .alpha(alpha)                      \
        .x(x, incx, m)                     \
        .y(y, incy, n)                     \
        .a_written(A, lda, m, n)           \
        .submit();                         \
  }
KM_CUBLAS_REAL(ger, _v2, KM_P_GER, KM_GER_BODY(KMB_BLAS_GER))
KM_CUBLAS_COMPLEX(geru, _v2, KM_P_GER, KM_GER_BODY(KMB_BLAS_GER))
KM_CUBLAS_COMPLEX(gerc, _v2, KM_P_GER, KM_GER_BODY(KMB_BLAS_GERC))

#define KM_SYR_BODY                             \
  {                                             \
    return Request(h, KMB_BLAS_SYR, kTypeOf<T>) \
        .triangle(uplo)                         \
        .n(n)                                   \
        .real_alpha(alpha)                      \
        .x(x, incx, n)                          \
        .a_written(A, lda, n, n)                \
        .submit();                              \
  }
KM_CUBLAS_REAL(syr, _v2, KM_P_SYR, KM_SYR_BODY)
KM_CUBLAS_COMPLEX(her, _v2, KM_P_HER, KM_SYR_BODY)

namespace {

/// A += alpha X^T X for the row X, or alpha (X^T Y + Y^T X): km_blas has that for matrices.
template <class T>
cublasStatus_t add_rows(Handle& h, cublasFillMode_t uplo, int64_t n, const T* alpha, const T* x,
                        int64_t incx, const T* y, int64_t incy, T* a, int64_t lda) {
  Request request(h, y == nullptr ? KMB_BLAS_SYRK : KMB_BLAS_SYR2K, kTypeOf<T>);
  request.triangle(uplo)
      .operation("trans", CUBLAS_OP_T)
      .n(n)
      .k(1)
      .fail(check_rows(incx, incy))
      .scalars({0, 0}, {1, 0})
      .alpha(alpha)
      .a(x, incx, 1, n);
  if (y != nullptr) request.b(y, incy, 1, n);
  return request.c_written(a, lda, n, n).submit();
}

}  // namespace

KM_CUBLAS_COMPLEX(syr, _v2, KM_P_SYR,
                  { return add_rows<T>(h, uplo, n, alpha, x, incx, nullptr, 1, A, lda); })
KM_CUBLAS_COMPLEX(syr2, _v2, KM_P_SYR2, {
  BLAS_REQUIRE(y);
  return add_rows<T>(h, uplo, n, alpha, x, incx, y, incy, A, lda);
})

#define KM_SYR2_BODY                             \
  {                                              \
    return Request(h, KMB_BLAS_SYR2, kTypeOf<T>) \
        .triangle(uplo)                          \
        .n(n)                                    \
        .alpha(alpha)                            \
        .x(x, incx, n)                           \
        .y(y, incy, n)                           \
        .a_written(A, lda, n, n)                 \
        .submit();                               \
  }
KM_CUBLAS_REAL(syr2, _v2, KM_P_SYR2, KM_SYR2_BODY)
KM_CUBLAS_COMPLEX(her2, _v2, KM_P_SYR2, KM_SYR2_BODY)

#define KM_SPR_BODY                             \
  {                                             \
    return Request(h, KMB_BLAS_SPR, kTypeOf<T>) \
        .triangle(uplo)                         \
        .n(n)                                   \
        .real_alpha(alpha)                      \
        .x(x, incx, n)                          \
        .packed_a(AP, n, true)                  \
        .submit();                              \
  }
KM_CUBLAS_REAL(spr, _v2, KM_P_HPR, KM_SPR_BODY)
KM_CUBLAS_COMPLEX(hpr, _v2, KM_P_HPR, KM_SPR_BODY)

#define KM_SPR2_BODY                             \
  {                                              \
    return Request(h, KMB_BLAS_SPR2, kTypeOf<T>) \
        .triangle(uplo)                          \
        .n(n)                                    \
        .alpha(alpha)                            \
        .x(x, incx, n)                           \
        .y(y, incy, n)                           \
        .packed_a(AP, n, true)                   \
        .submit();                               \
  }
KM_CUBLAS_REAL(spr2, _v2, KM_P_SPR2, KM_SPR2_BODY)
KM_CUBLAS_COMPLEX(hpr2, _v2, KM_P_SPR2, KM_SPR2_BODY)

}  // namespace km::cublas
