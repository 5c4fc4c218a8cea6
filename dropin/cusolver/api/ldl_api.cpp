// Symmetric and Hermitian indefinite matrices: factorizations, solutions and inverses.
#include "dropin/cusolver/dense/lapack.h"
#include "dropin/cusolver/dense/ldl.h"
#include "dropin/cusolver/frame/exports.h"

namespace km::cusolver {

namespace {

cu::CUresult wrong_exchanges(int64_t n) {
  return library::fail_work(cu::CUDA_ERROR_ILLEGAL_ADDRESS,
                            "ipiv has exchanges that no factorization of %lld rows makes",
                            static_cast<long long>(n));
}

template <bool kHermitian, class T, class Int>
cusolverStatus_t factorize(DnHandle& h, const char* name, cublasFillMode_t uplo, int64_t n, T* a,
                           int64_t lda, Int* pivots, int* info) {
  Job job(h, name);
  job.fill(uplo).size("n", n).matrix("A", a, n, n, lda, true).info(info);
  if (pivots != nullptr) job.vector("ipiv", pivots, n, true);
  return job.submit(cube(n) / 3, [=]() -> cu::CUresult {
    if (pivots == nullptr) {
      *info = factorize_triangle<kHermitian>(
          TriangleOrder<T>{a, lda, int(n), uplo == CUBLAS_FILL_MODE_UPPER});
      return cu::CUDA_SUCCESS;
    }
    std::vector<int> found(static_cast<size_t>(n) + 1);
    on_copy(a, n, n, lda, [&](T* copy, int leading) {
      with_work<T>([&](T* work, int lwork) {
        lapack<T>(kHermitian ? kHetrf : kSytrf, letter(uplo), int(n), copy, leading, found.data(),
                  work, lwork, info);
      });
    });
    std::copy_n(found.data(), n, pivots);
    return cu::CUDA_SUCCESS;
  });
}

template <bool kHermitian, class T>
cusolverStatus_t solve(DnHandle& h, const char* name, cublasFillMode_t uplo, int64_t n,
                       int64_t nrhs, const T* a, int64_t lda, const int64_t* pivots, T* b,
                       int64_t ldb, int* info) {
  const bool is_upper = uplo == CUBLAS_FILL_MODE_UPPER;
  Job job(h, name);
  job.fill(uplo).size("n", n).size("nrhs", nrhs).matrix("A", a, n, n, lda, false);
  if (pivots != nullptr) job.vector("ipiv", pivots, n, false);
  job.matrix("B", b, n, nrhs, ldb, true).info(info);
  return job.submit(2.0 * double(n) * double(n) * double(nrhs), [=]() -> cu::CUresult {
    *info = 0;
    if (pivots == nullptr) {
      const TriangleOrder<const T> order{a, lda, int(n), is_upper};
      for (int64_t j = 0; j < nrhs; ++j) solve_triangle<kHermitian>(order, b + j * ldb);
      return cu::CUDA_SUCCESS;
    }
    const std::vector<int> rows = read_exchanges(pivots, n, is_upper);
    if (rows.empty() && n != 0) return wrong_exchanges(n);
    lapack<T>(kHermitian ? kHetrs : kSytrs, letter(uplo), int(n), int(nrhs), a, int(lda),
              rows.data(), b, int(ldb), info);
    return cu::CUDA_SUCCESS;
  });
}

#define KM_P_SYTRF(P, T)                                                                   \
  P(cublasFillMode_t, uplo), P(int, n), P(T*, A), P(int, lda), P(int*, ipiv), P(T*, work), \
      P(int, lwork), P(int*, info)
template <class T>
cusolverStatus_t sytrf(DnHandle& h, const char* name, KM_P_SYTRF(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  return factorize<false>(h, name, uplo, n, native(A), lda, ipiv, info);
}

#define KM_P_SYTRI(P, T)                                                                         \
  P(cublasFillMode_t, uplo), P(int, n), P(T*, A), P(int, lda), P(const int*, ipiv), P(T*, work), \
      P(int, lwork), P(int*, info)
template <class T>
cusolverStatus_t sytri(DnHandle& h, const char* name, KM_P_SYTRI(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  return Job(h, name)
      .fill(uplo)
      .size("n", n)
      .matrix("A", A, n, n, lda, true)
      .vector("ipiv", ipiv, n, false)
      .info(info)
      .submit(2 * cube(n) / 3, [=]() -> cu::CUresult {
        const std::vector<int> rows = read_exchanges(ipiv, n, uplo == CUBLAS_FILL_MODE_UPPER);
        if (rows.empty() && n != 0) return wrong_exchanges(n);
        const Scratch<Native<T>> space(static_cast<size_t>(n));
        on_copy(native(A), n, n, lda, [&](Native<T>* copy, int leading) {
          lapack<Native<T>>(kSytri, letter(uplo), n, copy, leading, rows.data(), space.get(), info);
        });
        return cu::CUDA_SUCCESS;
      });
}

template <bool kHermitian>
cusolverStatus_t factorize_any(const char* name, cusolverDnHandle_t handle, cublasFillMode_t uplo,
                               int64_t n, cudaDataType type, void* a, int64_t lda, int64_t* pivots,
                               cudaDataType compute, int* info) {
  return call(name, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(require_type<T>("computeType", compute));
      return factorize<kHermitian>(h, name, uplo, n, static_cast<T*>(a), lda, pivots, info);
    });
  });
}

template <bool kHermitian>
cusolverStatus_t solve_any(const char* name, cusolverDnHandle_t handle, cublasFillMode_t uplo,
                           int64_t n, int64_t nrhs, cudaDataType type, const void* a, int64_t lda,
                           const int64_t* pivots, cudaDataType b_type, void* b, int64_t ldb,
                           int* info) {
  return call(name, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(require_type<T>("dataTypeB", b_type));
      return solve<kHermitian>(h, name, uplo, n, nrhs, static_cast<const T*>(a), lda, pivots,
                               static_cast<T*>(b), ldb, info);
    });
  });
}

}  // namespace

KM_EXPORT_ALL(sytrf, KM_P_SYTRF, sytrf)
KM_EXPORT_ALL(sytri, KM_P_SYTRI, sytri)

extern "C" {

cusolverStatus_t cusolverDnXsytrf(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a,
                                  int64_t lda, int64_t* pivots, cudaDataType compute, void*, size_t,
                                  void*, size_t, int* info) {
  return factorize_any<false>(__func__, handle, uplo, n, type, a, lda, pivots, compute, info);
}
cusolverStatus_t cusolverDnXhetrf(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a,
                                  int64_t lda, int64_t* pivots, cudaDataType compute, void*, size_t,
                                  void*, size_t, int* info) {
  return factorize_any<true>(__func__, handle, uplo, n, type, a, lda, pivots, compute, info);
}
cusolverStatus_t cusolverDnXsytrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n,
                                  int64_t nrhs, cudaDataType type, const void* a, int64_t lda,
                                  const int64_t* pivots, cudaDataType b_type, void* b, int64_t ldb,
                                  void*, size_t, void*, size_t, int* info) {
  return solve_any<false>(__func__, handle, uplo, n, nrhs, type, a, lda, pivots, b_type, b, ldb,
                          info);
}
cusolverStatus_t cusolverDnXhetrs(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType type,
                                  const void* a, int64_t lda, const int64_t* pivots,
                                  cudaDataType b_type, void* b, int64_t ldb, void*, size_t, void*,
                                  size_t, int* info) {
  return solve_any<true>(__func__, handle, uplo, n, nrhs, type, a, lda, pivots, b_type, b, ldb,
                         info);
}

}  // extern "C"

}  // namespace km::cusolver
