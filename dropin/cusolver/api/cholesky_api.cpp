// Cholesky factorizations, solutions and inverses with them, and inverses of triangles.
#include "dropin/cusolver/dense/lapack.h"
#include "dropin/cusolver/frame/exports.h"

namespace km::cusolver {

namespace {

/// Queues one of the routines of a triangle and an info: potrf, potri, lauum.
template <class T>
cusolverStatus_t on_triangle(Routine routine, DnHandle& h, const char* name, cublasFillMode_t uplo,
                             int64_t n, T* a, int64_t lda, int* info) {
  return Job(h, name)
      .fill(uplo)
      .size("n", n)
      .matrix("A", a, n, n, lda, true)
      .info(info)
      .submit(cube(n) / 3, [=] {
        on_copy(a, n, n, lda, [&](T* copy, int leading) {
          lapack<T>(routine, letter(uplo), int(n), copy, leading, info);
        });
      });
}

template <class T>
cusolverStatus_t solve(DnHandle& h, const char* name, cublasFillMode_t uplo, int64_t n,
                       int64_t nrhs, const T* a, int64_t lda, T* b, int64_t ldb, int* info) {
  return Job(h, name)
      .fill(uplo)
      .size("n", n)
      .size("nrhs", nrhs)
      .matrix("A", a, n, n, lda, false)
      .matrix("B", b, n, nrhs, ldb, true)
      .info(info)
      .submit(2.0 * double(n) * double(n) * double(nrhs), [=] {
        lapack<T>(kPotrs, letter(uplo), int(n), int(nrhs), a, int(lda), b, int(ldb), info);
      });
}

#define KM_P_TRIANGLE(P, T)                                                                \
  P(cublasFillMode_t, uplo), P(int, n), P(T*, A), P(int, lda), P(T*, work), P(int, lwork), \
      P(int*, info)

template <class T>
cusolverStatus_t potrf(DnHandle& h, const char* name, KM_P_TRIANGLE(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  return on_triangle(kPotrf, h, name, uplo, n, native(A), lda, info);
}
template <class T>
cusolverStatus_t potri(DnHandle& h, const char* name, KM_P_TRIANGLE(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  return on_triangle(kPotri, h, name, uplo, n, native(A), lda, info);
}
template <class T>
cusolverStatus_t lauum(DnHandle& h, const char* name, KM_P_TRIANGLE(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  return on_triangle(kLauum, h, name, uplo, n, native(A), lda, info);
}

#define KM_P_POTRS(P, T)                                                                     \
  P(cublasFillMode_t, uplo), P(int, n), P(int, nrhs), P(const T*, A), P(int, lda), P(T*, B), \
      P(int, ldb), P(int*, info)
template <class T>
cusolverStatus_t potrs(DnHandle& h, const char* name, KM_P_POTRS(KM_SIGNATURE, T)) {
  return solve(h, name, uplo, n, nrhs, native(A), lda, native(B), ldb, info);
}

#define KM_P_POTRF_BATCHED(P, T) \
  P(cublasFillMode_t, uplo), P(int, n), P(T**, A), P(int, lda), P(int*, info), P(int, batchSize)
template <class T>
cusolverStatus_t potrf_batched(DnHandle& h, const char* name, KM_P_POTRF_BATCHED(KM_SIGNATURE, T)) {
  if (lda < std::max(1, n)) return invalid("lda is %d; n is %d", lda, n);
  return Job(h, name)
      .fill(uplo)
      .size("n", n)
      .size("batchSize", batchSize)
      .vector("A", A, batchSize, false)
      .info(info, batchSize)
      .submit_pieces(static_cast<uint64_t>(batchSize), cube(n) / 3 * batchSize, [=](uint64_t i) {
        if (batchSize == 0) return;
        auto* const a = native(A[i]);
        const MatrixCopy<Native<T>> copy(a, n, n, lda);
        lapack<Native<T>>(kPotrf, letter(uplo), n, copy.data(), copy.leading(), info + i);
        copy.write(a, lda);
      });
}

#define KM_P_POTRS_BATCHED(P, T)                                                         \
  P(cublasFillMode_t, uplo), P(int, n), P(int, nrhs), P(T**, A), P(int, lda), P(T**, B), \
      P(int, ldb), P(int*, info), P(int, batchSize)
template <class T>
cusolverStatus_t potrs_batched(DnHandle& h, const char* name, KM_P_POTRS_BATCHED(KM_SIGNATURE, T)) {
  if (lda < std::max(1, n)) return invalid("lda is %d; n is %d", lda, n);
  if (ldb < std::max(1, n)) return invalid("ldb is %d; n is %d", ldb, n);
  return Job(h, name)
      .fill(uplo)
      .size("n", n)
      .size("nrhs", nrhs)
      .size("batchSize", batchSize)
      .vector("A", A, batchSize, false)
      .vector("B", B, batchSize, false)
      .info(info)  // one for the whole batch
      .submit(2.0 * n * n * nrhs * batchSize, [=] {
        *info = 0;
        for (int i = 0; i < batchSize; ++i) {
          auto* const b = native(B[i]);
          const MatrixCopy<Native<T>> a(native(A[i]), n, n, lda), x(b, n, nrhs, ldb);
          int ignored = 0;
          lapack<Native<T>>(kPotrs, letter(uplo), n, nrhs, a.data(), a.leading(), x.data(),
                            x.leading(), &ignored);
          x.write(b, ldb);
        }
      });
}

}  // namespace

KM_EXPORT_ALL(potrf, KM_P_TRIANGLE, potrf)
KM_EXPORT_ALL(potri, KM_P_TRIANGLE, potri)
KM_EXPORT_ALL(lauum, KM_P_TRIANGLE, lauum)
KM_EXPORT_ALL(potrs, KM_P_POTRS, potrs)
KM_EXPORT_ALL(potrfBatched, KM_P_POTRF_BATCHED, potrf_batched)
KM_EXPORT_ALL(potrsBatched, KM_P_POTRS_BATCHED, potrs_batched)

extern "C" {

cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a,
                                  int64_t lda, cudaDataType compute, void*, size_t, void*, size_t,
                                  int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(require_type<T>("computeType", compute));
      return on_triangle(kPotrf, h, "cusolverDnXpotrf", uplo, n, static_cast<T*>(a), lda, info);
    });
  });
}
cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType type,
                                  const void* a, int64_t lda, cudaDataType b_type, void* b,
                                  int64_t ldb, int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(require_type<T>("dataTypeB", b_type));
      return solve(h, "cusolverDnXpotrs", uplo, n, nrhs, static_cast<const T*>(a), lda,
                   static_cast<T*>(b), ldb, info);
    });
  });
}

cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                  cublasDiagType_t diag, int64_t n, cudaDataType type, void* A,
                                  int64_t lda, void*, size_t, void*, size_t, int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      auto* const a = static_cast<T*>(A);
      return Job(h, "cusolverDnXtrtri")
          .fill(uplo)
          .choice("diag", diag, diag == CUBLAS_DIAG_UNIT || diag == CUBLAS_DIAG_NON_UNIT)
          .size("n", n)
          .matrix("A", a, n, n, lda, true)
          .info(info)
          .submit(cube(n) / 3, [=] {
            on_copy(a, n, n, lda, [&](T* copy, int leading) {
              lapack<T>(kTrtri, letter(uplo), letter(diag), int(n), copy, leading, info);
            });
          });
    });
  });
}

}  // extern "C"

}  // namespace km::cusolver
