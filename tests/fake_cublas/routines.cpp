// The routines that the stand-in for cuBLAS exports.
#include "fake_cublas/library.h"

namespace km::cublas {

using fake_cublas::Filler;
using fake_cublas::queue;

namespace {

constexpr auto kA = &kmb_blas_call::a, kB = &kmb_blas_call::b, kC = &kmb_blas_call::c;

uint64_t rows_of(Operation operation, int plain, int turned) {
  return static_cast<uint64_t>(operation == kPlain ? plain : turned);
}
uint64_t count(int value) { return static_cast<uint64_t>(value); }

}  // namespace

// One function for each type: FAKE(names of f32, f64, c32 and c64, routine, parameters, filling).
#define FAKE_ONE(name, type, routine, parameters, ...)                                      \
  extern "C" Status name parameters {                                                       \
    return queue(#name, handle, KMB_BLAS_##routine, KM_DATA_TYPE_##type,                    \
                 [&](kmb_blas_call& call) { return Filler(&call).__VA_ARGS__.is_good(); }); \
  }
#define FAKE_REAL(s, d, routine, parameters, ...)                 \
  FAKE_ONE(cublas##s##_v2, F32, routine, parameters, __VA_ARGS__) \
  FAKE_ONE(cublas##d##_v2, F64, routine, parameters, __VA_ARGS__)
#define FAKE_COMPLEX(c, z, routine, parameters, ...)              \
  FAKE_ONE(cublas##c##_v2, C32, routine, parameters, __VA_ARGS__) \
  FAKE_ONE(cublas##z##_v2, C64, routine, parameters, __VA_ARGS__)
#define FAKE(s, d, c, z, routine, parameters, ...)  \
  FAKE_REAL(s, d, routine, parameters, __VA_ARGS__) \
  FAKE_COMPLEX(c, z, routine, parameters, __VA_ARGS__)

// Level 1
#define VECTORS vector(kB, x, incx).vector(kC, y, incy)
FAKE(Saxpy, Daxpy, Caxpy, Zaxpy, AXPY,
     (Handle handle, int n, Data alpha, Data x, int incx, Data y, int incy),
     sizes(0, n).alpha(alpha).VECTORS)
FAKE(Sscal, Dscal, Cscal, Zscal, SCAL, (Handle handle, int n, Data alpha, Data x, int incx),
     sizes(0, n).alpha(alpha).vector(kB, x, incx))
FAKE(Scopy, Dcopy, Ccopy, Zcopy, COPY, (Handle handle, int n, Data x, int incx, Data y, int incy),
     sizes(0, n).VECTORS)
FAKE(Sswap, Dswap, Cswap, Zswap, SWAP, (Handle handle, int n, Data x, int incx, Data y, int incy),
     sizes(0, n).VECTORS)
FAKE(Srot, Drot, Csrot, Zdrot, ROT,
     (Handle handle, int n, Data x, int incx, Data y, int incy, Data c, Data s),
     sizes(0, n).VECTORS.rotation(c, 0, 1).rotation(s, 1, 1))
FAKE_REAL(Srotm, Drotm, ROTM,
          (Handle handle, int n, Data x, int incx, Data y, int incy, Data parameters),
          sizes(0, n).VECTORS.rotation(parameters, 0, 5))
#define DOT_PARAMETERS (Handle handle, int n, Data x, int incx, Data y, int incy, Data out)
#define DOT_VECTORS sizes(0, n).vector(kA, x, incx).vector(kB, y, incy).result(out)
FAKE(Sdot, Ddot, Cdotu, Zdotu, DOT, DOT_PARAMETERS, DOT_VECTORS)
FAKE_COMPLEX(Cdotc, Zdotc, DOTC, DOT_PARAMETERS, DOT_VECTORS)
#define REDUCTION_PARAMETERS (Handle handle, int n, Data x, int incx, Data out)
FAKE(Snrm2, Dnrm2, Scnrm2, Dznrm2, NRM2, REDUCTION_PARAMETERS,
     sizes(0, n).vector(kB, x, incx).result(out))
FAKE(Sasum, Dasum, Scasum, Dzasum, ASUM, REDUCTION_PARAMETERS,
     sizes(0, n).vector(kB, x, incx).result(out))
FAKE(Isamax, Idamax, Icamax, Izamax, IAMAX, REDUCTION_PARAMETERS,
     sizes(0, n).vector(kB, x, incx).result(out))

// Level 2
FAKE(Sgemv, Dgemv, Cgemv, Zgemv, GEMV,
     (Handle handle, Operation op, int m, int n, Data alpha, Data a, int lda, Data x, int incx,
      Data beta, Data y, int incy),
     sizes(m, n).operations(op).alpha(alpha).beta(beta).matrix(kA, a, count(m), lda).VECTORS)
FAKE(Sgbmv, Dgbmv, Cgbmv, Zgbmv, GBMV,
     (Handle handle, Operation op, int m, int n, int kl, int ku, Data alpha, Data a, int lda,
      Data x, int incx, Data beta, Data y, int incy),
     sizes(m, n)
         .band(kl, ku)
         .operations(op)
         .alpha(alpha)
         .beta(beta)
         .matrix(kA, a, count(kl + ku + 1), lda)
         .VECTORS)
FAKE(Ssymv, Dsymv, Chemv, Zhemv, SYMV,
     (Handle handle, Fill fill, int n, Data alpha, Data a, int lda, Data x, int incx, Data beta,
      Data y, int incy),
     sizes(0, n).triangle(fill).alpha(alpha).beta(beta).matrix(kA, a, count(n), lda).VECTORS)
FAKE(Ssbmv, Dsbmv, Chbmv, Zhbmv, SBMV,
     (Handle handle, Fill fill, int n, int k, Data alpha, Data a, int lda, Data x, int incx,
      Data beta, Data y, int incy),
     sizes(0, n, k).triangle(fill).alpha(alpha).beta(beta).matrix(kA, a, count(k + 1), lda).VECTORS)
FAKE(Sspmv, Dspmv, Chpmv, Zhpmv, SPMV,
     (Handle handle, Fill fill, int n, Data alpha, Data a, Data x, int incx, Data beta, Data y,
      int incy),
     sizes(0, n).triangle(fill).alpha(alpha).beta(beta).packed(a).VECTORS)
#define TRIANGULAR triangle(fill).operations(op).diagonal(diag)
#define FULL_PARAMETERS \
  (Handle handle, Fill fill, Operation op, Diagonal diag, int n, Data a, int lda, Data x, int incx)
#define FULL_TRIANGLE sizes(0, n).TRIANGULAR.matrix(kA, a, count(n), lda).vector(kB, x, incx)
FAKE(Strmv, Dtrmv, Ctrmv, Ztrmv, TRMV, FULL_PARAMETERS, FULL_TRIANGLE)
FAKE(Strsv, Dtrsv, Ctrsv, Ztrsv, TRSV, FULL_PARAMETERS, FULL_TRIANGLE)
#define BAND_PARAMETERS                                                                          \
  (Handle handle, Fill fill, Operation op, Diagonal diag, int n, int k, Data a, int lda, Data x, \
   int incx)
#define BAND_TRIANGLE sizes(0, n, k).TRIANGULAR.matrix(kA, a, count(k + 1), lda).vector(kB, x, incx)
FAKE(Stbmv, Dtbmv, Ctbmv, Ztbmv, TBMV, BAND_PARAMETERS, BAND_TRIANGLE)
FAKE(Stbsv, Dtbsv, Ctbsv, Ztbsv, TBSV, BAND_PARAMETERS, BAND_TRIANGLE)
#define PACKED_PARAMETERS \
  (Handle handle, Fill fill, Operation op, Diagonal diag, int n, Data a, Data x, int incx)
#define PACKED_TRIANGLE sizes(0, n).TRIANGULAR.packed(a).vector(kB, x, incx)
FAKE(Stpmv, Dtpmv, Ctpmv, Ztpmv, TPMV, PACKED_PARAMETERS, PACKED_TRIANGLE)
FAKE(Stpsv, Dtpsv, Ctpsv, Ztpsv, TPSV, PACKED_PARAMETERS, PACKED_TRIANGLE)
#define GER_PARAMETERS \
  (Handle handle, int m, int n, Data alpha, Data x, int incx, Data y, int incy, Data a, int lda)
#define GER_FILLING sizes(m, n).alpha(alpha).VECTORS.matrix(kA, a, count(m), lda)
FAKE(Sger, Dger, Cgeru, Zgeru, GER, GER_PARAMETERS, GER_FILLING)
FAKE_COMPLEX(Cgerc, Zgerc, GERC, GER_PARAMETERS, GER_FILLING)
FAKE(Ssyr, Dsyr, Cher, Zher, SYR,
     (Handle handle, Fill fill, int n, Data alpha, Data x, int incx, Data a, int lda),
     sizes(0, n).triangle(fill).alpha(alpha).vector(kB, x, incx).matrix(kA, a, count(n), lda))
FAKE(Sspr, Dspr, Chpr, Zhpr, SPR,
     (Handle handle, Fill fill, int n, Data alpha, Data x, int incx, Data a),
     sizes(0, n).triangle(fill).alpha(alpha).vector(kB, x, incx).packed(a))
FAKE(Ssyr2, Dsyr2, Cher2, Zher2, SYR2,
     (Handle handle, Fill fill, int n, Data alpha, Data x, int incx, Data y, int incy, Data a,
      int lda),
     sizes(0, n).triangle(fill).alpha(alpha).VECTORS.matrix(kA, a, count(n), lda))
FAKE(Sspr2, Dspr2, Chpr2, Zhpr2, SPR2,
     (Handle handle, Fill fill, int n, Data alpha, Data x, int incx, Data y, int incy, Data a),
     sizes(0, n).triangle(fill).alpha(alpha).VECTORS.packed(a))

// Level 3
#define GEMM_OPERANDS sizes(m, n, k).operations(opa, opb).alpha(alpha).beta(beta)
FAKE(Sgemm, Dgemm, Cgemm, Zgemm, GEMM,
     (Handle handle, Operation opa, Operation opb, int m, int n, int k, Data alpha, Data a, int lda,
      Data b, int ldb, Data beta, Data c, int ldc),
     GEMM_OPERANDS.matrix(kA, a, rows_of(opa, m, k), lda)
         .matrix(kB, b, rows_of(opb, k, n), ldb)
         .matrix(kC, c, count(m), ldc))
#define FAKE_BATCHES(name, type)                                                                  \
  FAKE_ONE(name, type, GEMM,                                                                      \
           (Handle handle, Operation opa, Operation opb, int m, int n, int k, Data alpha, Data a, \
            int lda, long long stride_a, Data b, int ldb, long long stride_b, Data beta, Data c,  \
            int ldc, long long stride_c, int batch_count),                                        \
           GEMM_OPERANDS.matrix(kA, a, rows_of(opa, m, k), lda, stride_a)                         \
               .matrix(kB, b, rows_of(opb, k, n), ldb, stride_b)                                  \
               .matrix(kC, c, count(m), ldc, stride_c)                                            \
               .batch(batch_count))
FAKE_BATCHES(cublasSgemmStridedBatched, F32)
FAKE_BATCHES(cublasDgemmStridedBatched, F64)
FAKE_BATCHES(cublasCgemmStridedBatched, C32)
FAKE_BATCHES(cublasZgemmStridedBatched, C64)
#define SIDED_PARAMETERS                                                                   \
  (Handle handle, Side side, Fill fill, int m, int n, Data alpha, Data a, int lda, Data b, \
   int ldb, Data beta, Data c, int ldc)
#define SIDED_FILLING                                   \
  sizes(m, n)                                           \
      .side(side)                                       \
      .triangle(fill)                                   \
      .alpha(alpha)                                     \
      .beta(beta)                                       \
      .matrix(kA, a, count(side == kLeft ? m : n), lda) \
      .matrix(kB, b, count(m), ldb)                     \
      .matrix(kC, c, count(m), ldc)
FAKE(Ssymm, Dsymm, Csymm, Zsymm, SYMM, SIDED_PARAMETERS, SIDED_FILLING)
FAKE_COMPLEX(Chemm, Zhemm, HEMM, SIDED_PARAMETERS, SIDED_FILLING)
#define RANK_PARAMETERS                                                                          \
  (Handle handle, Fill fill, Operation op, int n, int k, Data alpha, Data a, int lda, Data beta, \
   Data c, int ldc)
#define RANK_FILLING                         \
  sizes(0, n, k)                             \
      .triangle(fill)                        \
      .operations(op)                        \
      .alpha(alpha)                          \
      .beta(beta)                            \
      .matrix(kA, a, rows_of(op, n, k), lda) \
      .matrix(kC, c, count(n), ldc)
FAKE(Ssyrk, Dsyrk, Csyrk, Zsyrk, SYRK, RANK_PARAMETERS, RANK_FILLING)
FAKE_COMPLEX(Cherk, Zherk, HERK, RANK_PARAMETERS, RANK_FILLING)
#define RANK2_PARAMETERS                                                                      \
  (Handle handle, Fill fill, Operation op, int n, int k, Data alpha, Data a, int lda, Data b, \
   int ldb, Data beta, Data c, int ldc)
#define RANK2_FILLING RANK_FILLING.matrix(kB, b, rows_of(op, n, k), ldb)
FAKE(Ssyr2k, Dsyr2k, Csyr2k, Zsyr2k, SYR2K, RANK2_PARAMETERS, RANK2_FILLING)
FAKE_COMPLEX(Cher2k, Zher2k, HER2K, RANK2_PARAMETERS, RANK2_FILLING)
#define TRIANGULAR_FILLING                              \
  sizes(m, n)                                           \
      .side(side)                                       \
      .TRIANGULAR.alpha(alpha)                          \
      .matrix(kA, a, count(side == kLeft ? m : n), lda) \
      .matrix(kB, b, count(m), ldb)
// In place only: the library uses no other.
FAKE(Strmm, Dtrmm, Ctrmm, Ztrmm, TRMM,
     (Handle handle, Side side, Fill fill, Operation op, Diagonal diag, int m, int n, Data alpha,
      Data a, int lda, Data b, int ldb, Data c, int ldc),
     TRIANGULAR_FILLING.require(b == c && ldb == ldc))
FAKE(Strsm, Dtrsm, Ctrsm, Ztrsm, TRSM,
     (Handle handle, Side side, Fill fill, Operation op, Diagonal diag, int m, int n, Data alpha,
      Data a, int lda, Data b, int ldb),
     TRIANGULAR_FILLING)

// Halves, with scalars of f32.
extern "C" Status cublasGemmStridedBatchedEx(Handle handle, Operation opa, Operation opb, int m,
                                             int n, int k, Data alpha, Data a, DataType type_a,
                                             int lda, long long stride_a, Data b, DataType type_b,
                                             int ldb, long long stride_b, Data beta, Data c,
                                             DataType type_c, int ldc, long long stride_c,
                                             int batch_count, Compute compute, Algorithm) {
  return queue(__func__, handle, KMB_BLAS_GEMM,
               type_a == kF16 ? KM_DATA_TYPE_F16 : KM_DATA_TYPE_BF16, [&](kmb_blas_call& call) {
                 return Filler(&call)
                     .GEMM_OPERANDS.matrix(kA, a, rows_of(opa, m, k), lda, stride_a)
                     .matrix(kB, b, rows_of(opb, k, n), ldb, stride_b)
                     .matrix(kC, c, count(m), ldc, stride_c)
                     .batch(batch_count)
                     .require(type_b == type_a && type_c == type_a && compute == kCompute32f)
                     .is_good();
               });
}

extern "C" Status cublasGemmEx(Handle handle, Operation opa, Operation opb, int m, int n, int k,
                               Data alpha, Data a, DataType type_a, int lda, Data b,
                               DataType type_b, int ldb, Data beta, Data c, DataType type_c,
                               int ldc, Compute compute, Algorithm algorithm) {
  return cublasGemmStridedBatchedEx(handle, opa, opb, m, n, k, alpha, a, type_a, lda, 0, b, type_b,
                                    ldb, 0, beta, c, type_c, ldc, 0, 1, compute, algorithm);
}

}  // namespace km::cublas
