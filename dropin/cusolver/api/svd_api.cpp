// Singular value decompositions.
#include <climits>

#include "dropin/cusolver/dense/lapack.h"
#include "dropin/cusolver/dense/svd.h"
#include "dropin/cusolver/frame/exports.h"
#include "dropin/cusolver/frame/objects.h"

namespace km::cusolver {

namespace {

double work_of(int64_t m, int64_t n) {
  return 12 * double(std::max(m, n)) * double(std::min(m, n)) * double(std::min(m, n));
}

bool is_job(signed char job) { return job == 'A' || job == 'S' || job == 'O' || job == 'N'; }

/// Decomposes one matrix as LAPACK's gesvd does. As cuSOLVER's it has to have m >= n.
template <class T>
cusolverStatus_t gesvd_any(DnHandle& h, const char* name, signed char jobu, signed char jobvt,
                           int64_t m, int64_t n, T* a, int64_t lda, Real<T>* s, T* u, int64_t ldu,
                           T* vt, int64_t ldvt, int* info) {
  Job job(h, name);
  job.choice("jobu", jobu, is_job(jobu)).choice("jobvt", jobvt, is_job(jobvt));
  job.choice("jobvt", jobvt, jobu != 'O' || jobvt != 'O');
  job.size("m", m).size("n", n).choice("n", n, n <= m);
  job.matrix("A", a, m, n, lda, true).vector("S", s, n, true).info(info);
  if (jobu == 'A' || jobu == 'S') job.matrix("U", u, m, jobu == 'A' ? m : n, ldu, true);
  if (jobvt == 'A' || jobvt == 'S') job.matrix("VT", vt, n, n, ldvt, true);
  // LAPACK checks the leading dimensions of matrices that it does not touch.
  const auto leading_of = [](signed char kind, int64_t leading, int64_t rows) {
    const bool is_used = kind == 'A' || kind == 'S';
    return static_cast<int>(is_used ? leading : std::clamp<int64_t>(rows, 1, INT_MAX));
  };
  const Decomposition<T> parts{char(jobu),
                               char(jobvt),
                               int(m),
                               int(n),
                               a,
                               int(lda),
                               s,
                               u,
                               leading_of(jobu, ldu, m),
                               vt,
                               leading_of(jobvt, ldvt, n)};
  return job.submit(work_of(m, n), [parts, info] { *info = decompose(parts); });
}

#define KM_P_GESVD(P, T)                                                                          \
  P(signed char, jobu), P(signed char, jobvt), P(int, m), P(int, n), P(T*, A), P(int, lda),       \
      P(Real<T>*, S), P(T*, U), P(int, ldu), P(T*, VT), P(int, ldvt), P(T*, work), P(int, lwork), \
      P(Real<T>*, rwork), P(int*, info)
template <class T>
cusolverStatus_t gesvd(DnHandle& h, const char* name, KM_P_GESVD(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  return gesvd_any(h, name, jobu, jobvt, m, n, native(A), lda, S, native(U), ldu, native(VT), ldvt,
                   info);
}

/// Matrices whose decompositions have V, and not its conjugate transpose.
template <class T>
struct Batch {
  cusolverEigMode_t jobz;
  bool is_economy;
  int64_t m, n;
  T* a;
  int64_t lda;
  Real<T>* s;
  T* u;
  int64_t ldu;
  T* v;
  int64_t ldv;
  int* info;
  int64_t count = 1, a_stride = 0, s_stride = 0, u_stride = 0, v_stride = 0;

  int64_t least() const { return std::min(m, n); }
  char job() const {
    if (jobz != CUSOLVER_EIG_MODE_VECTOR) return 'N';
    return is_economy ? 'S' : 'A';
  }
  void solve(int64_t i) const {
    const char letter = job();
    info[i] = decompose_to_v(
        letter, int(m), int(n), a + i * a_stride, int(lda), s + i * s_stride, u + i * u_stride,
        letter == 'N' ? int(std::max<int64_t>(m, 1)) : int(ldu), v + i * v_stride, int(ldv));
  }
};

template <class T>
void check(Job& job, const Batch<T>& batch) {
  const int64_t least = batch.least(), m = batch.m, n = batch.n, count = batch.count;
  job.job_mode("jobz", batch.jobz).size("m", m).size("n", n).size("batchSize", count);
  job.matrix("A", batch.a, m, n, batch.lda, true, count, batch.a_stride);
  job.matrix("S", batch.s, least, 1, std::max<int64_t>(least, 1), true, count, batch.s_stride);
  if (batch.jobz == CUSOLVER_EIG_MODE_VECTOR) {
    job.matrix("U", batch.u, m, batch.is_economy ? least : m, batch.ldu, true, count,
               batch.u_stride);
    job.matrix("V", batch.v, n, batch.is_economy ? least : n, batch.ldv, true, count,
               batch.v_stride);
  }
  job.info(batch.info, count);
}

/// Decomposes one matrix, whose residual the program can ask for.
template <class T>
cusolverStatus_t solve_one(DnHandle& h, const char* name, const Batch<T>& batch,
                           const std::shared_ptr<GesvdjInfo>& info) {
  Job job(h, name);
  check(job, batch);
  return job.submit(work_of(batch.m, batch.n), [batch, info] {
    const int m = int(batch.m), n = int(batch.n);
    if (batch.job() == 'N') {
      batch.solve(0);
      info->residual = 0;
      return;
    }
    const MatrixCopy<T> copy(batch.a, m, n, batch.lda);
    batch.solve(0);
    info->residual = svd_residual(m, n, std::min(m, n), copy.data(), copy.leading(), batch.s,
                                  batch.u, batch.ldu, batch.v, batch.ldv);
  });
}

template <class T>
cusolverStatus_t solve_batch(DnHandle& h, const char* name, const Batch<T>& batch) {
  Job job(h, name);
  check(job, batch);
  return job.submit_pieces(static_cast<uint64_t>(batch.count),
                           work_of(batch.m, batch.n) * double(batch.count), [batch](uint64_t i) {
                             if (batch.count != 0) batch.solve(static_cast<int64_t>(i));
                           });
}

#define KM_P_GESVDJ(P, T)                                                                       \
  P(cusolverEigMode_t, jobz), P(int, econ), P(int, m), P(int, n), P(T*, A), P(int, lda),        \
      P(Real<T>*, S), P(T*, U), P(int, ldu), P(T*, V), P(int, ldv), P(T*, work), P(int, lwork), \
      P(int*, info), P(gesvdjInfo_t, params)
template <class T>
cusolverStatus_t gesvdj(DnHandle& h, const char* name, KM_P_GESVDJ(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  const std::shared_ptr<GesvdjInfo> settings = find_object<GesvdjInfo>(params);
  if (settings == nullptr) return invalid("params is not live");
  settings->is_batch = false;
  const Batch<Native<T>> batch{jobz, econ != 0, m,   n,         native(A), lda,
                               S,    native(U), ldu, native(V), ldv,       info};
  return solve_one(h, name, batch, settings);
}

#define KM_P_GESVDJ_BATCHED(P, T)                                                              \
  P(cusolverEigMode_t, jobz), P(int, m), P(int, n), P(T*, A), P(int, lda), P(Real<T>*, S),     \
      P(T*, U), P(int, ldu), P(T*, V), P(int, ldv), P(T*, work), P(int, lwork), P(int*, info), \
      P(gesvdjInfo_t, params), P(int, batchSize)
template <class T>
cusolverStatus_t gesvdj_batched(DnHandle& h, const char* name,
                                KM_P_GESVDJ_BATCHED(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  const std::shared_ptr<GesvdjInfo> settings = find_object<GesvdjInfo>(params);
  if (settings == nullptr) return invalid("params is not live");
  settings->is_batch = true;
  Batch<Native<T>> batch{jobz, false,     m,   n,         native(A), lda,
                         S,    native(U), ldu, native(V), ldv,       info};
  batch.count = batchSize;
  batch.a_stride = int64_t{lda} * n;
  batch.s_stride = std::min(m, n);
  batch.u_stride = int64_t{ldu} * m;
  batch.v_stride = int64_t{ldv} * n;
  return solve_batch(h, name, batch);
}

/// The `rank` greatest singular values and their vectors of one matrix, which is not changed; with
/// 'N' only the values. Returns LAPACK's info.
template <class T>
int decompose_part(char job, int m, int n, int rank, const T* a, int64_t lda, Real<T>* s, T* u,
                   int64_t ldu, T* v, int64_t ldv) {
  const MatrixCopy<T> copy(a, m, n, lda);
  const int least = std::min(m, n);
  const auto columns = static_cast<size_t>(job == 'N' ? 0 : least);
  const Scratch<Real<T>> values(static_cast<size_t>(least));
  const Scratch<T> left(static_cast<size_t>(m) * columns), right(static_cast<size_t>(n) * columns);
  const int info = decompose(Decomposition<T>{job, job, m, n, copy.data(), copy.leading(), values,
                                              left, std::max(m, 1), right, std::max(least, 1)});
  std::copy_n(values.get(), rank, s);
  if (job == 'N') return info;
  for (int64_t j = 0; u != nullptr && j < rank; ++j) std::copy_n(left + j * m, m, u + j * ldu);
  if (v != nullptr) write_v<T>(right, std::max(least, 1), n, rank, v, ldv);
  return info;
}

#define KM_P_GESVDA(P, T)                                                                      \
  P(cusolverEigMode_t, jobz), P(int, rank), P(int, m), P(int, n), P(const T*, A), P(int, lda), \
      P(long long, strideA), P(Real<T>*, S), P(long long, strideS), P(T*, U), P(int, ldu),     \
      P(long long, strideU), P(T*, V), P(int, ldv), P(long long, strideV), P(T*, work),        \
      P(int, lwork), P(int*, info), P(double*, residuals), P(int, batchSize)
template <class T>
cusolverStatus_t gesvda(DnHandle& h, const char* name, KM_P_GESVDA(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  const bool has_vectors = jobz == CUSOLVER_EIG_MODE_VECTOR;
  Job job(h, name);
  job.job_mode("jobz", jobz).size("m", m).choice("n", n, n >= 0 && n <= m);
  job.choice("rank", rank, rank >= 0 && rank <= n).size("batchSize", batchSize);
  job.matrix("A", A, m, n, lda, false, batchSize, strideA);
  job.matrix("S", S, rank, 1, std::max(rank, 1), true, batchSize, strideS).info(info, batchSize);
  if (has_vectors) {
    job.matrix("U", U, m, rank, ldu, true, batchSize, strideU);
    job.matrix("V", V, n, rank, ldv, true, batchSize, strideV);
  }
  const bool is_answered = residuals != nullptr && has_vectors && batchSize > 0;
  if (is_answered) job.not_captured("the residual");
  const auto norms =
      std::make_shared<std::vector<double>>(std::max(is_answered ? batchSize : 0, 0));
  const auto one = [=](uint64_t piece) {
    if (batchSize == 0) return;
    const auto i = static_cast<int64_t>(piece);
    const auto* const a = native(A) + i * strideA;
    auto* const u = native(U) + i * strideU;
    auto* const v = native(V) + i * strideV;
    auto* const s = S + i * strideS;
    info[i] = decompose_part(has_vectors ? 'S' : 'N', m, n, rank, a, lda, s, u, ldu, v, ldv);
    if (!is_answered) return;
    (*norms)[piece] = svd_residual(m, n, rank, a, lda, s, u, ldu, v, ldv);
  };
  LIB_TRY(job.submit_pieces(static_cast<uint64_t>(batchSize), work_of(m, n) * batchSize, one));
  if (!is_answered) return CUSOLVER_STATUS_SUCCESS;
  LIB_TRY(job.wait());
  return write_place("h_R_nrmF", residuals, norms->data(), norms->size() * sizeof(double));
}

}  // namespace

KM_EXPORT_ALL(gesvd, KM_P_GESVD, gesvd)
KM_EXPORT_ALL(gesvdj, KM_P_GESVDJ, gesvdj)
KM_EXPORT_ALL(gesvdjBatched, KM_P_GESVDJ_BATCHED, gesvdj_batched)
KM_EXPORT_ALL(gesvdaStridedBatched, KM_P_GESVDA, gesvda)

namespace {

/// The types of the API of 64-bit sizes.
template <class T>
cusolverStatus_t check_types(cudaDataType s, cudaDataType u, cudaDataType v, cudaDataType compute) {
  LIB_TRY(require_type<Real<T>>("dataTypeS", s));
  LIB_TRY(require_type<T>("dataTypeU", u));
  LIB_TRY(require_type<T>("dataTypeV", v));
  return require_type<T>("computeType", compute);
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t, signed char jobu,
                                  signed char jobvt, int64_t m, int64_t n, cudaDataType type,
                                  void* a, int64_t lda, cudaDataType s_type, void* s,
                                  cudaDataType u_type, void* u, int64_t ldu, cudaDataType vt_type,
                                  void* vt, int64_t ldvt, cudaDataType compute, void*, size_t,
                                  void*, size_t, int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(check_types<T>(s_type, u_type, vt_type, compute));
      return gesvd_any(h, "cusolverDnXgesvd", jobu, jobvt, m, n, static_cast<T*>(a), lda,
                       static_cast<Real<T>*>(s), static_cast<T*>(u), ldu, static_cast<T*>(vt), ldvt,
                       info);
    });
  });
}

/// LAPACK's decomposition, without the polar one: its singular values are not perturbed.
cusolverStatus_t cusolverDnXgesvdp(cusolverDnHandle_t handle, cusolverDnParams_t,
                                   cusolverEigMode_t jobz, int econ, int64_t m, int64_t n,
                                   cudaDataType type, void* a, int64_t lda, cudaDataType s_type,
                                   void* s, cudaDataType u_type, void* u, int64_t ldu,
                                   cudaDataType v_type, void* v, int64_t ldv, cudaDataType compute,
                                   void*, size_t, void*, size_t, int* info, double* error) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(check_types<T>(s_type, u_type, v_type, compute));
      const Batch<T> batch{jobz,
                           econ != 0,
                           m,
                           n,
                           static_cast<T*>(a),
                           lda,
                           static_cast<Real<T>*>(s),
                           static_cast<T*>(u),
                           ldu,
                           static_cast<T*>(v),
                           ldv,
                           info};
      LIB_TRY(solve_batch(h, "cusolverDnXgesvdp", batch));
      return error == nullptr ? CUSOLVER_STATUS_SUCCESS : write_value("h_err_sigma", error, 0.0);
    });
  });
}

/// The greatest singular values by LAPACK, not by random projections.
cusolverStatus_t cusolverDnXgesvdr(cusolverDnHandle_t handle, cusolverDnParams_t, signed char jobu,
                                   signed char jobv, int64_t m, int64_t n, int64_t k, int64_t p,
                                   int64_t niters, cudaDataType type, void* A, int64_t lda,
                                   cudaDataType s_type, void* S, cudaDataType u_type, void* U,
                                   int64_t ldu, cudaDataType v_type, void* V, int64_t ldv,
                                   cudaDataType compute, void*, size_t, void*, size_t, int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(check_types<T>(s_type, u_type, v_type, compute));
      const int64_t least = std::min(m, n);
      auto* const a = static_cast<T*>(A);
      auto* const s = static_cast<Real<T>*>(S);
      T* const u = jobu == 'S' ? static_cast<T*>(U) : nullptr;
      T* const v = jobv == 'S' ? static_cast<T*>(V) : nullptr;
      Job job(h, "cusolverDnXgesvdr");
      job.choice("jobu", jobu, jobu == 'S' || jobu == 'N');
      job.choice("jobv", jobv, jobv == 'S' || jobv == 'N');
      job.size("m", m).size("n", n).choice("k", k, k >= 0 && k <= least);
      job.choice("p", p, p >= 0 && p <= least - k).choice("niters", niters, niters >= 0);
      job.matrix("A", a, m, n, lda, false).vector("Srand", s, k, true).info(info);
      if (jobu == 'S') job.matrix("Urand", u, m, k, ldu, true);
      if (jobv == 'S') job.matrix("Vrand", v, n, k, ldv, true);
      return job.submit(work_of(m, n), [=] {
        const char letter = u == nullptr && v == nullptr ? 'N' : 'S';
        *info = decompose_part(letter, int(m), int(n), int(k), a, lda, s, u, ldu, v, ldv);
      });
    });
  });
}

}  // extern "C"

}  // namespace km::cusolver
