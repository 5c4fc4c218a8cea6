// BLAS level 2: matrix-vector routines.
#include <cstdlib>

#include "dropin/cublas/frame/exports.h"

namespace km::cublas {

#define KM_P_GEMV(P, Int, T)                                                             \
  P(cublasOperation_t, trans), P(Int, m), P(Int, n), P(const T*, alpha), P(const T*, A), \
      P(Int, lda), P(const T*, x), P(Int, incx), P(const T*, beta), P(T*, y), P(Int, incy)
#define KM_P_GBMV(P, Int, T)                                                                     \
  P(cublasOperation_t, trans), P(Int, m), P(Int, n), P(Int, kl), P(Int, ku), P(const T*, alpha), \
      P(const T*, A), P(Int, lda), P(const T*, x), P(Int, incx), P(const T*, beta), P(T*, y),    \
      P(Int, incy)
#define KM_P_SYMV(P, Int, T)                                                             \
  P(cublasFillMode_t, uplo), P(Int, n), P(const T*, alpha), P(const T*, A), P(Int, lda), \
      P(const T*, x), P(Int, incx), P(const T*, beta), P(T*, y), P(Int, incy)
#define KM_P_SBMV(P, Int, T)                                                           \
  P(cublasFillMode_t, uplo), P(Int, n), P(Int, k), P(const T*, alpha), P(const T*, A), \
      P(Int, lda), P(const T*, x), P(Int, incx), P(const T*, beta), P(T*, y), P(Int, incy)
#define KM_P_SPMV(P, Int, T)                                                                 \
  P(cublasFillMode_t, uplo), P(Int, n), P(const T*, alpha), P(const T*, AP), P(const T*, x), \
      P(Int, incx), P(const T*, beta), P(T*, y), P(Int, incy)
#define KM_P_TRMV(P, Int, T)                                                                    \
  P(cublasFillMode_t, uplo), P(cublasOperation_t, trans), P(cublasDiagType_t, diag), P(Int, n), \
      P(const T*, A), P(Int, lda), P(T*, x), P(Int, incx)
#define KM_P_TBMV(P, Int, T)                                                                    \
  P(cublasFillMode_t, uplo), P(cublasOperation_t, trans), P(cublasDiagType_t, diag), P(Int, n), \
      P(Int, k), P(const T*, A), P(Int, lda), P(T*, x), P(Int, incx)
#define KM_P_TPMV(P, Int, T)                                                                    \
  P(cublasFillMode_t, uplo), P(cublasOperation_t, trans), P(cublasDiagType_t, diag), P(Int, n), \
      P(const T*, AP), P(T*, x), P(Int, incx)
#define KM_P_GER(P, Int, T)                                                               \
  P(Int, m), P(Int, n), P(const T*, alpha), P(const T*, x), P(Int, incx), P(const T*, y), \
      P(Int, incy), P(T*, A), P(Int, lda)
#define KM_P_SYR(P, Int, T)                                                               \
  P(cublasFillMode_t, uplo), P(Int, n), P(const T*, alpha), P(const T*, x), P(Int, incx), \
      P(T*, A), P(Int, lda)
#define KM_P_HER(P, Int, T)                                                                     \
  P(cublasFillMode_t, uplo), P(Int, n), P(const Real<T>*, alpha), P(const T*, x), P(Int, incx), \
      P(T*, A), P(Int, lda)
#define KM_P_HPR(P, Int, T)                                                                     \
  P(cublasFillMode_t, uplo), P(Int, n), P(const Real<T>*, alpha), P(const T*, x), P(Int, incx), \
      P(T*, AP)
#define KM_P_SYR2(P, Int, T)                                                              \
  P(cublasFillMode_t, uplo), P(Int, n), P(const T*, alpha), P(const T*, x), P(Int, incx), \
      P(const T*, y), P(Int, incy), P(T*, A), P(Int, lda)
#define KM_P_SPR2(P, Int, T)                                                              \
  P(cublasFillMode_t, uplo), P(Int, n), P(const T*, alpha), P(const T*, x), P(Int, incx), \
      P(const T*, y), P(Int, incy), P(T*, AP)

namespace {

template <class T, class Int>
cublasStatus_t gemv(Handle& h, KM_P_GEMV(KM_DECLARE, Int, T)) {
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
}

template <class T, class Int>
cublasStatus_t gbmv(Handle& h, KM_P_GBMV(KM_DECLARE, Int, T)) {
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
}

template <class T, class Int>
cublasStatus_t symv(Handle& h, KM_P_SYMV(KM_DECLARE, Int, T)) {
  return Request(h, KMB_BLAS_SYMV, kTypeOf<T>)
      .triangle(uplo)
      .n(n)
      .alpha(alpha)
      .a(A, lda, n, n)
      .x(x, incx, n)
      .beta(beta)
      .y(y, incy, n, true)
      .submit();
}

/// Checks increments that stand for leading dimensions: if km_blas has a routine for matrices only,
/// vectors are passed to it as rows.
cublasStatus_t check_rows(int64_t incx, int64_t incy) {
  if (incx > 0 && incy > 0) return CUBLAS_STATUS_SUCCESS;
  if (incx == 0 || incy == 0) return invalid("an increment is 0");
  return unsupported(
      "negative increments of csymv, csyr and csyr2 are not there; copy the vector by "
      "cublas<t>copy "
      "with one first");
}

/// y^T = alpha x^T A + beta y^T, computed as a matrix product with one row.
template <class T, class Int>
cublasStatus_t symv_of_row(Handle& h, KM_P_SYMV(KM_DECLARE, Int, T)) {
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
}

template <class T, class Int>
cublasStatus_t sbmv(Handle& h, KM_P_SBMV(KM_DECLARE, Int, T)) {
  return Request(h, KMB_BLAS_SBMV, kTypeOf<T>)
      .triangle(uplo)
      .n(n)
      .k(k)
      .alpha(alpha)
      .a(A, lda, int64_t{k} + 1, n)
      .x(x, incx, n)
      .beta(beta)
      .y(y, incy, n, true)
      .submit();
}

template <class T, class Int>
cublasStatus_t spmv(Handle& h, KM_P_SPMV(KM_DECLARE, Int, T)) {
  return Request(h, KMB_BLAS_SPMV, kTypeOf<T>)
      .triangle(uplo)
      .n(n)
      .alpha(alpha)
      .packed_a(AP, n, false)
      .x(x, incx, n)
      .beta(beta)
      .y(y, incy, n, true)
      .submit();
}

/// Fills in the arguments that all triangular routines share.
Request triangular(Handle& h, kmb_blas_routine routine, km_data_type type, cublasFillMode_t uplo,
                   cublasOperation_t trans, cublasDiagType_t diag, int64_t n) {
  Request request(h, routine, type);
  request.triangle(uplo).operation("trans", trans).diagonal(diag).n(n);
  return request;
}

template <kmb_blas_routine kRoutine, class T, class Int>
cublasStatus_t trv(Handle& h, KM_P_TRMV(KM_DECLARE, Int, T)) {
  return triangular(h, kRoutine, kTypeOf<T>, uplo, trans, diag, n)
      .a(A, lda, n, n)
      .x(x, incx, n, true)
      .submit();
}

template <kmb_blas_routine kRoutine, class T, class Int>
cublasStatus_t tbv(Handle& h, KM_P_TBMV(KM_DECLARE, Int, T)) {
  return triangular(h, kRoutine, kTypeOf<T>, uplo, trans, diag, n)
      .k(k)
      .a(A, lda, int64_t{k} + 1, n)
      .x(x, incx, n, true)
      .submit();
}

template <kmb_blas_routine kRoutine, class T, class Int>
cublasStatus_t tpv(Handle& h, KM_P_TPMV(KM_DECLARE, Int, T)) {
  return triangular(h, kRoutine, kTypeOf<T>, uplo, trans, diag, n)
      .packed_a(AP, n, false)
      .x(x, incx, n, true)
      .submit();
}

template <kmb_blas_routine kRoutine, class T, class Int>
cublasStatus_t ger(Handle& h, KM_P_GER(KM_DECLARE, Int, T)) {
  return Request(h, kRoutine, kTypeOf<T>)
      .m(m)
      .n(n)
      .alpha(alpha)
      .x(x, incx, m)
      .y(y, incy, n)
      .a_written(A, lda, m, n)
      .submit();
}

template <class T, class Int>
cublasStatus_t syr(Handle& h, KM_P_HER(KM_DECLARE, Int, T)) {
  return Request(h, KMB_BLAS_SYR, kTypeOf<T>)
      .triangle(uplo)
      .n(n)
      .real_alpha(alpha)
      .x(x, incx, n)
      .a_written(A, lda, n, n)
      .submit();
}

/// A += alpha X^T X for the row X, or alpha (X^T Y + Y^T X): km_blas has these routines for
/// matrices only.
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

template <class T, class Int>
cublasStatus_t syr_of_row(Handle& h, KM_P_SYR(KM_DECLARE, Int, T)) {
  return add_rows<T>(h, uplo, n, alpha, x, incx, nullptr, 1, A, lda);
}

template <class T, class Int>
cublasStatus_t syr2_of_row(Handle& h, KM_P_SYR2(KM_DECLARE, Int, T)) {
  LIB_REQUIRE(y);
  return add_rows<T>(h, uplo, n, alpha, x, incx, y, incy, A, lda);
}

template <class T, class Int>
cublasStatus_t syr2(Handle& h, KM_P_SYR2(KM_DECLARE, Int, T)) {
  return Request(h, KMB_BLAS_SYR2, kTypeOf<T>)
      .triangle(uplo)
      .n(n)
      .alpha(alpha)
      .x(x, incx, n)
      .y(y, incy, n)
      .a_written(A, lda, n, n)
      .submit();
}

template <class T, class Int>
cublasStatus_t spr(Handle& h, KM_P_HPR(KM_DECLARE, Int, T)) {
  return Request(h, KMB_BLAS_SPR, kTypeOf<T>)
      .triangle(uplo)
      .n(n)
      .real_alpha(alpha)
      .x(x, incx, n)
      .packed_a(AP, n, true)
      .submit();
}

template <class T, class Int>
cublasStatus_t spr2(Handle& h, KM_P_SPR2(KM_DECLARE, Int, T)) {
  return Request(h, KMB_BLAS_SPR2, kTypeOf<T>)
      .triangle(uplo)
      .n(n)
      .alpha(alpha)
      .x(x, incx, n)
      .y(y, incy, n)
      .packed_a(AP, n, true)
      .submit();
}

}  // namespace

KM_EXPORT_ALL(gemv, _v2, KM_P_GEMV, gemv)
KM_EXPORT_ALL(gbmv, _v2, KM_P_GBMV, gbmv)
KM_EXPORT_REAL(symv, _v2, KM_P_SYMV, symv)
KM_EXPORT_COMPLEX(hemv, _v2, KM_P_SYMV, symv)
KM_EXPORT_COMPLEX(symv, _v2, KM_P_SYMV, symv_of_row)
KM_EXPORT_REAL(sbmv, _v2, KM_P_SBMV, sbmv)
KM_EXPORT_COMPLEX(hbmv, _v2, KM_P_SBMV, sbmv)
KM_EXPORT_REAL(spmv, _v2, KM_P_SPMV, spmv)
KM_EXPORT_COMPLEX(hpmv, _v2, KM_P_SPMV, spmv)
KM_EXPORT_ALL(trmv, _v2, KM_P_TRMV, trv<KMB_BLAS_TRMV>)
KM_EXPORT_ALL(trsv, _v2, KM_P_TRMV, trv<KMB_BLAS_TRSV>)
KM_EXPORT_ALL(tbmv, _v2, KM_P_TBMV, tbv<KMB_BLAS_TBMV>)
KM_EXPORT_ALL(tbsv, _v2, KM_P_TBMV, tbv<KMB_BLAS_TBSV>)
KM_EXPORT_ALL(tpmv, _v2, KM_P_TPMV, tpv<KMB_BLAS_TPMV>)
KM_EXPORT_ALL(tpsv, _v2, KM_P_TPMV, tpv<KMB_BLAS_TPSV>)
KM_EXPORT_REAL(ger, _v2, KM_P_GER, ger<KMB_BLAS_GER>)
KM_EXPORT_COMPLEX(geru, _v2, KM_P_GER, ger<KMB_BLAS_GER>)
KM_EXPORT_COMPLEX(gerc, _v2, KM_P_GER, ger<KMB_BLAS_GERC>)
KM_EXPORT_REAL(syr, _v2, KM_P_SYR, syr)
KM_EXPORT_COMPLEX(her, _v2, KM_P_HER, syr)
KM_EXPORT_COMPLEX(syr, _v2, KM_P_SYR, syr_of_row)
KM_EXPORT_COMPLEX(syr2, _v2, KM_P_SYR2, syr2_of_row)
KM_EXPORT_REAL(syr2, _v2, KM_P_SYR2, syr2)
KM_EXPORT_COMPLEX(her2, _v2, KM_P_SYR2, syr2)
KM_EXPORT_REAL(spr, _v2, KM_P_HPR, spr)
KM_EXPORT_COMPLEX(hpr, _v2, KM_P_HPR, spr)
KM_EXPORT_REAL(spr2, _v2, KM_P_SPR2, spr2)
KM_EXPORT_COMPLEX(hpr2, _v2, KM_P_SPR2, spr2)

}  // namespace km::cublas
