// LU factorizations, solutions with them, and row exchanges.
#include <vector>

#include "dropin/cusolver/dense/lapack.h"
#include "dropin/cusolver/dense/lu.h"
#include "dropin/cusolver/frame/exports.h"

namespace km::cusolver {

namespace {

/// Exchanges have 32 or 64 bits; LAPACK's have 32.
template <class T, class Int>
cusolverStatus_t factorize(DnHandle& h, const char* name, int64_t m, int64_t n, T* a, int64_t lda,
                           Int* pivots, int* info) {
  const int64_t count = std::min(m, n);
  Job job(h, name);
  job.size("m", m).size("n", n).matrix("A", a, m, n, lda, true).info(info);
  if (pivots != nullptr) job.vector("devIpiv", pivots, count, true);
  const double flops = 2.0 * double(count) * double(count) * double(std::max(m, n));
  return job.submit(flops, [=]() -> cu::CUresult {
    on_copy(a, m, n, lda, [&](T* copy, int leading) {
      if (pivots == nullptr) {
        *info = factorize_without_pivots(int(m), int(n), copy, leading);
        return;
      }
      std::vector<int> found(static_cast<size_t>(count) + 1);
      lapack<T>(kGetrf, int(m), int(n), copy, leading, found.data(), info);
      std::copy_n(found.data(), count, pivots);
    });
    return cu::CUDA_SUCCESS;
  });
}

template <class T, class Int>
cusolverStatus_t solve(DnHandle& h, const char* name, cublasOperation_t trans, int64_t n,
                       int64_t nrhs, const T* a, int64_t lda, const Int* pivots, T* b, int64_t ldb,
                       int* info) {
  Job job(h, name);
  job.operation("trans", trans).size("n", n).size("nrhs", nrhs).matrix("A", a, n, n, lda, false);
  if (pivots != nullptr) job.vector("devIpiv", pivots, n, false);
  job.matrix("B", b, n, nrhs, ldb, true).info(info);
  return job.submit(2.0 * double(n) * double(n) * double(nrhs), [=]() -> cu::CUresult {
    *info = 0;
    if (pivots == nullptr) {
      solve_without_pivots(letter(trans), int(n), int(nrhs), a, int(lda), b, int(ldb));
      return cu::CUDA_SUCCESS;
    }
    const std::vector<Int> copied(pivots, pivots + n);
    if (const Int* const wrong = find_wrong_row(copied.data(), n, n)) {
      return library::fail_work(cu::CUDA_ERROR_ILLEGAL_ADDRESS,
                                "devIpiv exchanges row %lld of a matrix of %lld rows",
                                static_cast<long long>(*wrong), static_cast<long long>(n));
    }
    const std::vector<int> rows(copied.begin(), copied.end());
    lapack<T>(kGetrs, letter(trans), int(n), int(nrhs), a, int(lda), rows.data(), b, int(ldb),
              info);
    return cu::CUDA_SUCCESS;
  });
}

#define KM_P_GETRF(P, T) \
  P(int, m), P(int, n), P(T*, A), P(int, lda), P(T*, Workspace), P(int*, devIpiv), P(int*, devInfo)
template <class T>
cusolverStatus_t getrf(DnHandle& h, const char* name, KM_P_GETRF(KM_SIGNATURE, T)) {
  return factorize(h, name, m, n, native(A), lda, devIpiv, devInfo);
}

#define KM_P_GETRS(P, T)                                                             \
  P(cublasOperation_t, trans), P(int, n), P(int, nrhs), P(const T*, A), P(int, lda), \
      P(const int*, devIpiv), P(T*, B), P(int, ldb), P(int*, devInfo)
template <class T>
cusolverStatus_t getrs(DnHandle& h, const char* name, KM_P_GETRS(KM_SIGNATURE, T)) {
  return solve(h, name, trans, n, nrhs, native(A), lda, devIpiv, native(B), ldb, devInfo);
}

/// The number of rows of the last column that lie inside A's allocation.
template <class T>
cusolverStatus_t rows_in_memory(const DnHandle& h, const T* a, int64_t columns, int64_t lda,
                                int64_t* rows) {
  cu::CUdeviceptr base = 0;
  size_t size_bytes = 0;
  const auto address = reinterpret_cast<cu::CUdeviceptr>(a);
  LIB_CHECK(h.driver->cuMemGetAddressRange_v2(&base, &size_bytes, address));
  const auto elements = static_cast<int64_t>((base + size_bytes - address) / sizeof(T));
  *rows = std::min(lda, elements - (columns - 1) * lda);
  return CUSOLVER_STATUS_SUCCESS;
}

#define KM_P_LASWP(P, T) \
  P(int, n), P(T*, A), P(int, lda), P(int, k1), P(int, k2), P(const int*, devIpiv), P(int, incx)
template <class T>
cusolverStatus_t laswp(DnHandle& h, const char* name, KM_P_LASWP(KM_SIGNATURE, T)) {
  Job job(h, name);
  job.size("n", n);
  if (k1 < 1 || k2 > lda) return invalid("rows %d to %d of a matrix with lda %d", k1, k2, lda);
  if (incx == 0) return invalid("incx is 0");
  const int64_t count = int64_t{k2} - k1 + 1, step = std::abs(int64_t{incx});
  if (n <= 0 || count <= 0) return job.status();
  auto* const a = native(A);
  int64_t rows = 0;
  LIB_TRY(rows_in_memory(h, a, n, lda, &rows));
  job.matrix("A", a, std::max<int64_t>(rows, k2), n, lda, true);
  job.vector("devIpiv", devIpiv, k1 - 1 + (count - 1) * step + 1, false);
  return job.submit(double(n) * double(count), [=]() -> cu::CUresult {
    for (int64_t each = 0; each < count; ++each) {
      const int64_t k = incx > 0 ? k1 + each : k2 - each;
      const int64_t row = devIpiv[k1 - 1 + (k - k1) * step];
      if (row < 1 || row > rows) {
        return library::fail_work(cu::CUDA_ERROR_ILLEGAL_ADDRESS,
                                  "devIpiv exchanges row %lld of a matrix of %lld rows",
                                  static_cast<long long>(row), static_cast<long long>(rows));
      }
      if (row == k) continue;
      for (int64_t j = 0; j < n; ++j) std::swap(a[k - 1 + j * lda], a[row - 1 + j * lda]);
    }
    return cu::CUDA_SUCCESS;
  });
}

}  // namespace

KM_EXPORT_ALL(getrf, KM_P_GETRF, getrf)
KM_EXPORT_ALL(getrs, KM_P_GETRS, getrs)
KM_EXPORT_ALL(laswp, KM_P_LASWP, laswp)

extern "C" {

cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m,
                                  int64_t n, cudaDataType type, void* a, int64_t lda,
                                  int64_t* pivots, cudaDataType compute, void*, size_t, void*,
                                  size_t, int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(require_type<T>("computeType", compute));
      return factorize(h, "cusolverDnXgetrf", m, n, static_cast<T*>(a), lda, pivots, info);
    });
  });
}

cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cublasOperation_t trans, int64_t n, int64_t nrhs,
                                  cudaDataType type, const void* a, int64_t lda,
                                  const int64_t* pivots, cudaDataType b_type, void* b, int64_t ldb,
                                  int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(require_type<T>("dataTypeB", b_type));
      return solve(h, "cusolverDnXgetrs", trans, n, nrhs, static_cast<const T*>(a), lda, pivots,
                   static_cast<T*>(b), ldb, info);
    });
  });
}

}  // extern "C"

}  // namespace km::cusolver
