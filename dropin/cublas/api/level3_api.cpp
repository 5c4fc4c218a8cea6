// BLAS level 3 except GEMM.
#include "dropin/cublas/frame/exports.h"
#include "dropin/cublas/product/product.h"

namespace km::cublas {

#define KM_P_SYMM(P, Int, T)                                                                      \
  P(cublasSideMode_t, side), P(cublasFillMode_t, uplo), P(Int, m), P(Int, n), P(const T*, alpha), \
      P(const T*, A), P(Int, lda), P(const T*, B), P(Int, ldb), P(const T*, beta), P(T*, C),      \
      P(Int, ldc)
#define KM_P_SYRK(P, Int, T)                                                    \
  P(cublasFillMode_t, uplo), P(cublasOperation_t, trans), P(Int, n), P(Int, k), \
      P(const T*, alpha), P(const T*, A), P(Int, lda), P(const T*, beta), P(T*, C), P(Int, ldc)
#define KM_P_HERK(P, Int, T)                                                                    \
  P(cublasFillMode_t, uplo), P(cublasOperation_t, trans), P(Int, n), P(Int, k),                 \
      P(const Real<T>*, alpha), P(const T*, A), P(Int, lda), P(const Real<T>*, beta), P(T*, C), \
      P(Int, ldc)
#define KM_P_SYR2K(P, Int, T)                                                       \
  P(cublasFillMode_t, uplo), P(cublasOperation_t, trans), P(Int, n), P(Int, k),     \
      P(const T*, alpha), P(const T*, A), P(Int, lda), P(const T*, B), P(Int, ldb), \
      P(const T*, beta), P(T*, C), P(Int, ldc)
#define KM_P_HER2K(P, Int, T)                                                       \
  P(cublasFillMode_t, uplo), P(cublasOperation_t, trans), P(Int, n), P(Int, k),     \
      P(const T*, alpha), P(const T*, A), P(Int, lda), P(const T*, B), P(Int, ldb), \
      P(const Real<T>*, beta), P(T*, C), P(Int, ldc)
#define KM_P_TRMM(P, Int, T)                                                               \
  P(cublasSideMode_t, side), P(cublasFillMode_t, uplo), P(cublasOperation_t, trans),       \
      P(cublasDiagType_t, diag), P(Int, m), P(Int, n), P(const T*, alpha), P(const T*, A), \
      P(Int, lda), P(const T*, B), P(Int, ldb), P(T*, C), P(Int, ldc)
#define KM_P_TRSM(P, Int, T)                                                               \
  P(cublasSideMode_t, side), P(cublasFillMode_t, uplo), P(cublasOperation_t, trans),       \
      P(cublasDiagType_t, diag), P(Int, m), P(Int, n), P(const T*, alpha), P(const T*, A), \
      P(Int, lda), P(T*, B), P(Int, ldb)

namespace {

template <kmb_blas_routine kRoutine, class T, class Int>
cublasStatus_t symm(Handle& h, KM_P_SYMM(KM_DECLARE, Int, T)) {
  const int64_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  return Request(h, kRoutine, kTypeOf<T>)
      .side(side)
      .triangle(uplo)
      .m(m)
      .n(n)
      .alpha(alpha)
      .a(A, lda, order, order)
      .b(B, ldb, m, n)
      .beta(beta)
      .c_written(C, ldc, m, n)
      .submit();
}

/// These complex routines accept only one kind of transposition.
cublasStatus_t check_transposition(km_data_type type, cublasOperation_t trans,
                                   cublasOperation_t known) {
  if (!is_complex(type) || trans == CUBLAS_OP_N || trans == known) return CUBLAS_STATUS_SUCCESS;
  return invalid("trans is %d; it can be 0 or %d here", static_cast<int>(trans),
                 static_cast<int>(known));
}

/// syrk, or herk, which has real scalars.
template <kmb_blas_routine kRoutine, cublasOperation_t kKnown, class T, class Scalar, class Int>
cublasStatus_t rank_k(Handle& h, cublasFillMode_t uplo, cublasOperation_t trans, Int n, Int k,
                      const Scalar* alpha, const T* A, Int lda, const Scalar* beta, T* C, Int ldc) {
  constexpr bool kHasRealScalars = kRoutine == KMB_BLAS_HERK;
  Request request(h, kRoutine, kTypeOf<T>);
  request.triangle(uplo)
      .operation("trans", trans)
      .fail(check_transposition(kTypeOf<T>, trans, kKnown))
      .n(n)
      .k(k);
  (kHasRealScalars ? request.real_alpha(alpha) : request.alpha(alpha))
      .a(A, lda, is_plain(trans) ? n : k, is_plain(trans) ? k : n);
  return (kHasRealScalars ? request.real_beta(beta) : request.beta(beta))
      .c_written(C, ldc, n, n)
      .submit();
}

/// syr2k, or her2k, which has a real beta.
template <kmb_blas_routine kRoutine, cublasOperation_t kKnown, class T, class Beta, class Int>
cublasStatus_t rank_2k(Handle& h, cublasFillMode_t uplo, cublasOperation_t trans, Int n, Int k,
                       const T* alpha, const T* A, Int lda, const T* B, Int ldb, const Beta* beta,
                       T* C, Int ldc) {
  Request request(h, kRoutine, kTypeOf<T>);
  request.triangle(uplo)
      .operation("trans", trans)
      .fail(check_transposition(kTypeOf<T>, trans, kKnown))
      .n(n)
      .k(k)
      .alpha(alpha)
      .a(A, lda, is_plain(trans) ? n : k, is_plain(trans) ? k : n)
      .b(B, ldb, is_plain(trans) ? n : k, is_plain(trans) ? k : n);
  return (kRoutine == KMB_BLAS_HER2K ? request.real_beta(beta) : request.beta(beta))
      .c_written(C, ldc, n, n)
      .submit();
}

/// One triangle of alpha op(A) op(B)^T + beta C. For herkx op(B) is conjugated as well, and beta is
/// real.
template <cublasOperation_t kKnown, class T, class Beta, class Int>
cublasStatus_t triangle_of_product(Handle& h, cublasFillMode_t uplo, cublasOperation_t trans, Int n,
                                   Int k, const T* alpha, const T* A, Int lda, const T* B, Int ldb,
                                   const Beta* beta, T* C, Int ldc) {
  constexpr bool kIsHermitian = kKnown == CUBLAS_OP_C;
  LIB_TRY(check_transposition(kTypeOf<T>, trans, kKnown));
  Product product(h, kTypeOf<T>);
  const bool plain = is_plain(trans);
  product.set_sizes(n, n, k);
  product.set_a(A, lda, plain ? CUBLAS_OP_N : kKnown);
  product.set_b(B, ldb, plain ? kKnown : CUBLAS_OP_N);
  product.set_c(C, ldc);
  product.set_triangle(uplo, kIsHermitian);
  product.set_scalars(alpha, beta, kIsHermitian);
  return product.submit();
}

/// Copies B to C in stream order.
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

template <class T, class Int>
cublasStatus_t trmm(Handle& h, KM_P_TRMM(KM_DECLARE, Int, T)) {
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
  LIB_TRY(request.status());
  if (request.is_empty()) return CUBLAS_STATUS_SUCCESS;
  LIB_REQUIRE(B);
  if (ldb < m)
    return invalid("ldb is %lld; columns of B have %lld elements", static_cast<long long>(ldb),
                   static_cast<long long>(m));
  if (B != C) {
    LIB_TRY(copy_matrix(h, sizeof(T), m, n, B, ldb, C, ldc));
  } else if (ldb != ldc) {
    return invalid("B is C, but ldb is not ldc");
  }
  return request.submit();
}

template <class T, class Int>
cublasStatus_t trsm(Handle& h, KM_P_TRSM(KM_DECLARE, Int, T)) {
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
}

}  // namespace

KM_EXPORT_ALL(symm, _v2, KM_P_SYMM, symm<KMB_BLAS_SYMM>)
KM_EXPORT_COMPLEX(hemm, _v2, KM_P_SYMM, symm<KMB_BLAS_HEMM>)
KM_EXPORT_ALL(syrk, _v2, KM_P_SYRK, rank_k<KMB_BLAS_SYRK, CUBLAS_OP_T>)
KM_EXPORT_COMPLEX(herk, _v2, KM_P_HERK, rank_k<KMB_BLAS_HERK, CUBLAS_OP_C>)
KM_EXPORT_ALL(syr2k, _v2, KM_P_SYR2K, rank_2k<KMB_BLAS_SYR2K, CUBLAS_OP_T>)
KM_EXPORT_COMPLEX(her2k, _v2, KM_P_HER2K, rank_2k<KMB_BLAS_HER2K, CUBLAS_OP_C>)
KM_EXPORT_ALL(syrkx, , KM_P_SYR2K, triangle_of_product<CUBLAS_OP_T>)
KM_EXPORT_COMPLEX(herkx, , KM_P_HER2K, triangle_of_product<CUBLAS_OP_C>)
KM_EXPORT_ALL(trmm, _v2, KM_P_TRMM, trmm)
KM_EXPORT_ALL(trsm, _v2, KM_P_TRSM, trsm)

}  // namespace km::cublas
