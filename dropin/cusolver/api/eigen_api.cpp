// Eigenvalues of symmetric and Hermitian matrices and pencils.
#include <climits>

#include "dropin/cusolver/dense/eigen.h"
#include "dropin/cusolver/frame/exports.h"
#include "dropin/cusolver/frame/objects.h"

namespace km::cusolver {

namespace {

bool is_type(cusolverEigType_t type) { return type >= 1 && type <= 3; }

/// A symmetric or Hermitian matrix, or a batch of them, and the places of its results.
template <class T>
struct Problem {
  cusolverEigMode_t jobz;
  cublasFillMode_t uplo;
  int64_t n;
  T* a;
  int64_t lda;
  Real<T>* w;
  int* info;
  int64_t batch_count = 1;
  int64_t a_stride = 0, w_stride = 0;
  // A pencil's second matrix; null: there is none.
  T* b = nullptr;
  int64_t ldb = 1, b_stride = 0;
  int type = 0;

  int solve(int64_t i) const {
    T* const matrix = a + i * a_stride;
    Real<T>* const values = w + i * w_stride;
    if (type == 0) {
      return symmetric_eigen(letter(jobz), uplo, int(n), matrix, int(lda), values);
    }
    return generalized_eigen(type, letter(jobz), uplo, int(n), matrix, int(lda), b + i * b_stride,
                             int(ldb), values);
  }
};

template <class T>
void check(Job& job, const Problem<T>& problem) {
  const int64_t n = problem.n;
  job.job_mode("jobz", problem.jobz).fill(problem.uplo).size("n", n);
  job.size("batchSize", problem.batch_count);
  job.matrix("A", problem.a, n, n, problem.lda, true, problem.batch_count, problem.a_stride);
  if (problem.type != 0) {
    job.matrix("B", problem.b, n, n, problem.ldb, true, problem.batch_count, problem.b_stride);
  }
  job.matrix("W", problem.w, n, 1, std::max<int64_t>(n, 1), true, problem.batch_count,
             problem.w_stride);
  job.info(problem.info, problem.batch_count);
}

/// Solves a batch of problems.
template <class T>
cusolverStatus_t solve(DnHandle& h, const char* name, const Problem<T>& problem) {
  Job job(h, name);
  check(job, problem);
  const auto count = static_cast<uint64_t>(problem.batch_count);
  return job.submit_pieces(count, 9 * cube(problem.n) * double(problem.batch_count),
                           [problem](uint64_t i) {
                             if (problem.batch_count == 0) return;
                             problem.info[i] = problem.solve(static_cast<int64_t>(i));
                           });
}

/// Solves one problem for a part of its eigenvalues, whose number the host gets.
template <class T, class Count>
cusolverStatus_t solve_range(DnHandle& h, const char* name, const Problem<T>& problem,
                             const EigenRange& range, Count* place) {
  Job job(h, name);
  check(job, problem);
  const bool is_counted = range.kind == CUSOLVER_EIG_RANGE_V;
  job.choice("range", range.kind,
             range.kind >= CUSOLVER_EIG_RANGE_ALL && range.kind <= CUSOLVER_EIG_RANGE_V);
  if (range.kind == CUSOLVER_EIG_RANGE_I && problem.n > 0) {
    job.choice("il", range.first, range.first >= 1 && range.first <= problem.n);
    job.choice("iu", range.last, range.last >= range.first && range.last <= problem.n);
  }
  if (is_counted) {
    if (!(range.lower < range.upper)) return invalid("vl is not below vu");
    job.not_captured("the number of eigenvalues between vl and vu");
  }
  const auto found = std::make_shared<int>(0);
  LIB_TRY(job.submit(9 * cube(problem.n), [problem, range, found] {
    *problem.info = problem.solve(0);
    T* const vectors = problem.jobz == CUSOLVER_EIG_MODE_VECTOR ? problem.a : nullptr;
    *found = choose_eigen(range, int(problem.n), problem.w, vectors, int(problem.lda));
  }));
  int64_t count = problem.n;
  if (range.kind == CUSOLVER_EIG_RANGE_I && problem.n > 0) count = range.last - range.first + 1;
  if (is_counted) {
    LIB_TRY(job.wait());
    count = *found;
  }
  return write_value("meig", place, static_cast<Count>(count));
}

/// Solves problems whose residuals programs can ask for.
template <class T>
cusolverStatus_t solve_jacobi(DnHandle& h, const char* name, const Problem<T>& problem,
                              syevjInfo_t params, bool is_batch) {
  const std::shared_ptr<SyevjInfo> info = find_object<SyevjInfo>(params);
  if (info == nullptr) return invalid("params is not live");
  info->is_batch = is_batch;
  if (is_batch) return solve(h, name, problem);
  Job job(h, name);
  check(job, problem);
  return job.submit(11 * cube(problem.n), [problem, info] {
    const int n = int(problem.n), lda = int(problem.lda);
    const bool has_residual = problem.type == 0 && problem.jobz == CUSOLVER_EIG_MODE_VECTOR;
    std::vector<T> full;
    if (has_residual) full = both_triangles(problem.uplo, n, problem.a, lda);
    *problem.info = problem.solve(0);
    info->residual = has_residual ? eigen_residual(full, n, problem.a, lda, problem.w) : 0;
  });
}

#define KM_P_SYEVD(P, T)                                                                   \
  P(cusolverEigMode_t, jobz), P(cublasFillMode_t, uplo), P(int, n), P(T*, A), P(int, lda), \
      P(Real<T>*, W), P(T*, work), P(int, lwork), P(int*, info)
template <class T>
cusolverStatus_t syevd(DnHandle& h, const char* name, KM_P_SYEVD(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  return solve(h, name, Problem<Native<T>>{jobz, uplo, n, native(A), lda, W, info});
}

#define KM_P_SYEVDX(P, T)                                                                         \
  P(cusolverEigMode_t, jobz), P(cusolverEigRange_t, range), P(cublasFillMode_t, uplo), P(int, n), \
      P(T*, A), P(int, lda), P(Real<T>, vl), P(Real<T>, vu), P(int, il), P(int, iu),              \
      P(int*, meig), P(Real<T>*, W), P(T*, work), P(int, lwork), P(int*, info)
template <class T>
cusolverStatus_t syevdx(DnHandle& h, const char* name, KM_P_SYEVDX(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  return solve_range(h, name, Problem<Native<T>>{jobz, uplo, n, native(A), lda, W, info},
                     EigenRange{range, vl, vu, il, iu}, meig);
}

#define KM_P_SYEVJ(P, T)                                                                   \
  P(cusolverEigMode_t, jobz), P(cublasFillMode_t, uplo), P(int, n), P(T*, A), P(int, lda), \
      P(Real<T>*, W), P(T*, work), P(int, lwork), P(int*, info), P(syevjInfo_t, params)
template <class T>
cusolverStatus_t syevj(DnHandle& h, const char* name, KM_P_SYEVJ(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  return solve_jacobi(h, name, Problem<Native<T>>{jobz, uplo, n, native(A), lda, W, info}, params,
                      false);
}

#define KM_P_SYEVJ_BATCHED(P, T) KM_P_SYEVJ(P, T), P(int, batchSize)
template <class T>
cusolverStatus_t syevj_batched(DnHandle& h, const char* name, KM_P_SYEVJ_BATCHED(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  const Problem<Native<T>> problem{jobz, uplo, n,         native(A),        lda,
                                   W,    info, batchSize, int64_t{lda} * n, n};
  return solve_jacobi(h, name, problem, params, true);
}

#define KM_P_SYGVD(P, T)                                                                         \
  P(cusolverEigType_t, itype), P(cusolverEigMode_t, jobz), P(cublasFillMode_t, uplo), P(int, n), \
      P(T*, A), P(int, lda), P(T*, B), P(int, ldb), P(Real<T>*, W), P(T*, work), P(int, lwork),  \
      P(int*, info)

/// One pencil, whose type is valid.
template <class T>
Problem<T> pencil(cusolverEigType_t type, const Problem<T>& problem, T* b, int64_t ldb,
                  int64_t b_stride = 0) {
  Problem<T> result = problem;
  result.b = b;
  result.ldb = ldb;
  result.b_stride = b_stride;
  result.type = type;
  return result;
}

cusolverStatus_t check_pencil(cusolverEigType_t type) {
  if (is_type(type)) return CUSOLVER_STATUS_SUCCESS;
  return invalid("itype is %d, which is not 1, 2 or 3", static_cast<int>(type));
}

template <class T>
cusolverStatus_t sygvd(DnHandle& h, const char* name, KM_P_SYGVD(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  LIB_TRY(check_pencil(itype));
  const Problem<Native<T>> problem{jobz, uplo, n, native(A), lda, W, info};
  return solve(h, name, pencil(itype, problem, native(B), ldb));
}

#define KM_P_SYGVDX(P, T)                                                                    \
  P(cusolverEigType_t, itype), P(cusolverEigMode_t, jobz), P(cusolverEigRange_t, range),     \
      P(cublasFillMode_t, uplo), P(int, n), P(T*, A), P(int, lda), P(T*, B), P(int, ldb),    \
      P(Real<T>, vl), P(Real<T>, vu), P(int, il), P(int, iu), P(int*, meig), P(Real<T>*, W), \
      P(T*, work), P(int, lwork), P(int*, info)
template <class T>
cusolverStatus_t sygvdx(DnHandle& h, const char* name, KM_P_SYGVDX(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  LIB_TRY(check_pencil(itype));
  const Problem<Native<T>> problem{jobz, uplo, n, native(A), lda, W, info};
  return solve_range(h, name, pencil(itype, problem, native(B), ldb),
                     EigenRange{range, vl, vu, il, iu}, meig);
}

#define KM_P_SYGVJ(P, T) KM_P_SYGVD(P, T), P(syevjInfo_t, params)
template <class T>
cusolverStatus_t sygvj(DnHandle& h, const char* name, KM_P_SYGVJ(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  LIB_TRY(check_pencil(itype));
  const Problem<Native<T>> problem{jobz, uplo, n, native(A), lda, W, info};
  return solve_jacobi(h, name, pencil(itype, problem, native(B), ldb), params, false);
}

/// The types of the API of 64-bit sizes: W's is that of A's real parts.
template <class T>
cusolverStatus_t check_types(cudaDataType w_type, cudaDataType compute) {
  LIB_TRY(require_type<Real<T>>("dataTypeW", w_type));
  return require_type<T>("computeType", compute);
}

/// Reads the bounds of a range.
template <class T>
cusolverStatus_t read_bounds(const void* vl, const void* vu, EigenRange* range) {
  if (range->kind != CUSOLVER_EIG_RANGE_V) return CUSOLVER_STATUS_SUCCESS;
  Real<T> lower = 0, upper = 0;
  LIB_TRY(read_value("vl", static_cast<const Real<T>*>(vl), &lower));
  LIB_TRY(read_value("vu", static_cast<const Real<T>*>(vu), &upper));
  range->lower = lower;
  range->upper = upper;
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace

KM_EXPORT_NAMES(syevd, heevd, KM_P_SYEVD, syevd)
KM_EXPORT_NAMES(syevdx, heevdx, KM_P_SYEVDX, syevdx)
KM_EXPORT_NAMES(syevj, heevj, KM_P_SYEVJ, syevj)
KM_EXPORT_NAMES(syevjBatched, heevjBatched, KM_P_SYEVJ_BATCHED, syevj_batched)
KM_EXPORT_NAMES(sygvd, hegvd, KM_P_SYGVD, sygvd)
KM_EXPORT_NAMES(sygvdx, hegvdx, KM_P_SYGVDX, sygvdx)
KM_EXPORT_NAMES(sygvj, hegvj, KM_P_SYGVJ, sygvj)

extern "C" {

cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                  cudaDataType type, void* a, int64_t lda, cudaDataType w_type,
                                  void* w, cudaDataType compute, void*, size_t, void*, size_t,
                                  int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(check_types<T>(w_type, compute));
      return solve(
          h, "cusolverDnXsyevd",
          Problem<T>{jobz, uplo, n, static_cast<T*>(a), lda, static_cast<Real<T>*>(w), info});
    });
  });
}

cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t,
                                        cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                        cudaDataType type, void* a, int64_t lda,
                                        cudaDataType w_type, void* w, cudaDataType compute, void*,
                                        size_t, void*, size_t, int* info, int64_t batch_count) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(check_types<T>(w_type, compute));
      if (lda < 0 || lda > INT_MAX || n < 0 || n > INT_MAX) return invalid("n or lda is wrong");
      return solve(h, "cusolverDnXsyevBatched",
                   Problem<T>{jobz, uplo, n, static_cast<T*>(a), lda, static_cast<Real<T>*>(w),
                              info, batch_count, lda * n, n});
    });
  });
}

cusolverStatus_t cusolverDnXsyevdx(cusolverDnHandle_t handle, cusolverDnParams_t,
                                   cusolverEigMode_t jobz, cusolverEigRange_t range_kind,
                                   cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a,
                                   int64_t lda, void* vl, void* vu, int64_t il, int64_t iu,
                                   int64_t* meig, cudaDataType w_type, void* w,
                                   cudaDataType compute, void*, size_t, void*, size_t, int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(check_types<T>(w_type, compute));
      EigenRange range{range_kind, 0, 0, il, iu};
      LIB_TRY(read_bounds<T>(vl, vu, &range));
      return solve_range(
          h, "cusolverDnXsyevdx",
          Problem<T>{jobz, uplo, n, static_cast<T*>(a), lda, static_cast<Real<T>*>(w), info}, range,
          meig);
    });
  });
}

cusolverStatus_t cusolverDnXsygvd(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cusolverEigType_t itype, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a,
                                  int64_t lda, cudaDataType b_type, void* b, int64_t ldb,
                                  cudaDataType w_type, void* w, cudaDataType compute, void*, size_t,
                                  void*, size_t, int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(check_types<T>(w_type, compute));
      LIB_TRY(require_type<T>("dataTypeB", b_type));
      LIB_TRY(check_pencil(itype));
      const Problem<T> problem{jobz, uplo, n, static_cast<T*>(a), lda, static_cast<Real<T>*>(w),
                               info};
      return solve(h, "cusolverDnXsygvd", pencil(itype, problem, static_cast<T*>(b), ldb));
    });
  });
}

cusolverStatus_t cusolverDnXsygvdx(cusolverDnHandle_t handle, cusolverDnParams_t,
                                   cusolverEigType_t itype, cusolverEigMode_t jobz,
                                   cusolverEigRange_t range_kind, cublasFillMode_t uplo, int64_t n,
                                   cudaDataType type, void* a, int64_t lda, cudaDataType b_type,
                                   void* b, int64_t ldb, void* vl, void* vu, int64_t il, int64_t iu,
                                   int64_t* meig, cudaDataType w_type, void* w,
                                   cudaDataType compute, void*, size_t, void*, size_t, int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(check_types<T>(w_type, compute));
      LIB_TRY(require_type<T>("dataTypeB", b_type));
      LIB_TRY(check_pencil(itype));
      EigenRange range{range_kind, 0, 0, il, iu};
      LIB_TRY(read_bounds<T>(vl, vu, &range));
      const Problem<T> problem{jobz, uplo, n, static_cast<T*>(a), lda, static_cast<Real<T>*>(w),
                               info};
      return solve_range(h, "cusolverDnXsygvdx", pencil(itype, problem, static_cast<T*>(b), ldb),
                         range, meig);
    });
  });
}

cusolverStatus_t cusolverDnXsygvStridedBatched(
    cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigType_t itype, cusolverEigMode_t jobz,
    cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a, int64_t lda, int64_t a_stride,
    cudaDataType b_type, void* b, int64_t ldb, int64_t b_stride, cudaDataType w_type, void* w,
    int64_t w_stride, cudaDataType compute, int64_t batch_count, void*, size_t, void*, size_t,
    int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(check_types<T>(w_type, compute));
      LIB_TRY(require_type<T>("dataTypeB", b_type));
      LIB_TRY(check_pencil(itype));
      const Problem<T> problem{
          jobz,        uplo,     n,       static_cast<T*>(a), lda, static_cast<Real<T>*>(w), info,
          batch_count, a_stride, w_stride};
      return solve(h, "cusolverDnXsygvStridedBatched",
                   pencil(itype, problem, static_cast<T*>(b), ldb, b_stride));
    });
  });
}

}  // extern "C"

}  // namespace km::cusolver
