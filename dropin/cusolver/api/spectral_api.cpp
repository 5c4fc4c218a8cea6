// Eigenvalues of general and tridiagonal matrices, and polar decompositions.
#include <climits>

#include "dropin/cusolver/dense/eigen.h"
#include "dropin/cusolver/dense/svd.h"
#include "dropin/cusolver/frame/exports.h"

namespace km::cusolver {

namespace {

/// The arguments of geev. Eigenvalues of real matrices are two arrays of n, or complex numbers.
template <class T>
struct GeneralProblem {
  char left, right;
  int n;
  T* a;
  int lda;
  void* w;
  bool has_complex_values;
  T* vl;
  int ldvl;
  T* vr;
  int ldvr;

  int solve() const {
    if constexpr (kIsComplex<T>) {
      return general_eigen(left, right, n, a, lda, static_cast<T*>(w), static_cast<T*>(nullptr), vl,
                           ldvl, vr, ldvr);
    } else {
      auto* const values = static_cast<T*>(w);
      if (!has_complex_values) {
        return general_eigen(left, right, n, a, lda, values, values + n, vl, ldvl, vr, ldvr);
      }
      const Scratch<T> apart(2 * static_cast<size_t>(n));
      const int info =
          general_eigen(left, right, n, a, lda, apart.get(), apart + n, vl, ldvl, vr, ldvr);
      for (int i = 0; i < n; ++i) {
        values[2 * i] = apart[i];
        values[2 * i + 1] = apart[n + i];
      }
      return info;
    }
  }
};

/// Decomposes A = U H, where A gets U. Returns LAPACK's info.
template <class T>
int decompose_polar(cublasFillMode_t fill, int m, int n, T* a, int lda, T* h, int ldh,
                    double* residual, double* norm, double* condition) {
  for (double* const each : {residual, norm, condition}) {
    if (each != nullptr) *each = 0;
  }
  if (n == 0) return 0;
  const auto rows = static_cast<size_t>(m), columns = static_cast<size_t>(n);
  const Scratch<T> copy(rows * columns), u(rows * columns), vt(columns * columns);
  const Scratch<T> product(columns * columns), check(rows * columns);
  const Scratch<Real<T>> s(columns);
  for (int64_t j = 0; j < n; ++j) std::copy_n(a + j * lda, m, copy + j * m);
  const std::vector<T> original(copy.get(), copy + rows * columns);
  const int info = decompose(Decomposition<T>{'S', 'S', m, n, copy, std::max(m, 1), s, u,
                                              std::max(m, 1), vt, std::max(n, 1)});
  const T one(1), zero(0);
  lapack<T>(kGemm, 'N', 'N', m, n, n, one, u.get(), m, vt.get(), n, zero, a, lda);
  const Scratch<T> scaled(columns * columns);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) scaled[i + j * n] = vt[i + j * n] * s[i];
  }
  lapack<T>(kGemm, 'C', 'N', n, n, n, one, vt.get(), n, scaled.get(), n, zero, product.get(), n);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) {
      const bool is_kept =
          fill == CUBLAS_FILL_MODE_FULL || (fill == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j);
      if (is_kept) h[i + j * ldh] = product[i + j * n];
    }
  }
  lapack<T>(kGemm, 'N', 'N', m, n, n, one, a, lda, product.get(), n, zero, check.get(), m);
  double difference = 0, sum = 0;
  for (size_t i = 0; i < rows * columns; ++i) {
    difference += std::norm(std::complex<double>(check[i] - original[i]));
    sum += std::norm(std::complex<double>(original[i]));
  }
  if (residual != nullptr) *residual = std::sqrt(difference);
  if (norm != nullptr) *norm = std::sqrt(sum);
  if (condition != nullptr) *condition = s[0] > 0 ? double(s[n - 1]) / double(s[0]) : 0.0;
  return info;
}

/// Eigenvalues of a tridiagonal matrix. Returns LAPACK's info; n if a number is not finite.
template <class T>
int tridiagonal_eigen(char job, int n, Real<T>* d, Real<T>* e, T* z, int ldz) {
  const int order = std::max(n, 1);
  const MatrixCopy<Real<T>> diagonal(d, n, 1, n), beside(e, n - 1, 1, n);
  const Scratch<T> copy(job == 'N' ? 0 : static_cast<size_t>(n) * static_cast<size_t>(n));
  for (int64_t j = 0; j < n && job == 'V'; ++j) std::copy_n(z + j * ldz, n, copy + j * n);
  const bool is_finite_given = are_finite(diagonal.data(), n, 1, n) &&
                               are_finite(beside.data(), n - 1, 1, n) &&
                               (job != 'V' || are_finite(copy.get(), n, n, n));
  if (!is_finite_given) {
    fill_nan(d, n, 1, n);
    if (job != 'N') fill_nan(z, n, n, ldz);
    return n;
  }
  int info = 0;
  with_divided_work<T>([&](T* work, int lwork, Real<T>* rwork, int lrwork, int* iwork, int liwork) {
    if constexpr (kIsComplex<T>) {
      lapack<T>(kStedc, job, n, diagonal.data(), beside.data(), copy.get(), order, work, lwork,
                rwork, lrwork, iwork, liwork, &info);
    } else {
      lapack<T>(kStedc, job, n, diagonal.data(), beside.data(), copy.get(), order, work, lwork,
                iwork, liwork, &info);
    }
  });
  diagonal.write(d, n);
  beside.write(e, n);
  if (job != 'N') write_matrix(copy.get(), n, n, z, ldz);
  return info;
}

template <class T>
cusolverStatus_t geev(Job& job, int64_t n, const GeneralProblem<T>& problem, int64_t lda,
                      int64_t ldvl, int64_t ldvr, int* info) {
  job.size("n", n).matrix("A", problem.a, n, n, lda, true).info(info);
  const int64_t reals = n * (kIsComplex<T> || problem.has_complex_values ? 2 : 1) *
                        (kIsComplex<T> || problem.has_complex_values ? 1 : 2);
  job.vector("W", static_cast<Real<T>*>(problem.w), reals, true);
  if (problem.left == 'V') job.matrix("VL", problem.vl, n, n, ldvl, true);
  if (problem.right == 'V') job.matrix("VR", problem.vr, n, n, ldvr, true);
  return job.submit(25 * cube(n), [problem, info] { *info = problem.solve(); });
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t,
                                 cusolverEigMode_t jobvl, cusolverEigMode_t jobvr, int64_t n,
                                 cudaDataType type, void* a, int64_t lda, cudaDataType w_type,
                                 void* w, cudaDataType vl_type, void* vl, int64_t ldvl,
                                 cudaDataType vr_type, void* vr, int64_t ldvr, cudaDataType compute,
                                 void*, size_t, void*, size_t, int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(require_type<T>("computeType", compute));
      LIB_TRY(require_type<T>("dataTypeVL", vl_type));
      LIB_TRY(require_type<T>("dataTypeVR", vr_type));
      const bool is_complex = w_type == TypeOf<std::complex<Real<T>>>::kData;
      if (!is_complex) LIB_TRY(require_type<T>("dataTypeW", w_type));
      // LAPACK checks the leading dimensions of matrices that it does not touch.
      const auto leading = [](cusolverEigMode_t mode, int64_t value) {
        return mode == CUSOLVER_EIG_MODE_VECTOR ? int(std::clamp<int64_t>(value, 0, INT_MAX)) : 1;
      };
      const GeneralProblem<T> problem{letter(jobvl),
                                      letter(jobvr),
                                      int(n),
                                      static_cast<T*>(a),
                                      int(lda),
                                      w,
                                      is_complex,
                                      static_cast<T*>(vl),
                                      leading(jobvl, ldvl),
                                      static_cast<T*>(vr),
                                      leading(jobvr, ldvr)};
      Job job(h, "cusolverDnXgeev");
      job.job_mode("jobvl", jobvl).job_mode("jobvr", jobvr);
      return geev(job, n, problem, lda, ldvl, ldvr, info);
    });
  });
}

cusolverStatus_t cusolverDnXstedc(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cusolverEigComp_t compz, int64_t n, cudaDataType de_type, void* d,
                                  void* e, cudaDataType type, void* z, int64_t ldz,
                                  cudaDataType compute, void*, size_t, void*, size_t, int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(require_type<Real<T>>("dataTypeDE", de_type));
      if (compute != de_type) LIB_TRY(require_type<T>("computeType", compute));
      const char letter = compz == CUSOLVER_EIG_COMP_N   ? 'N'
                          : compz == CUSOLVER_EIG_COMP_I ? 'I'
                                                         : 'V';
      auto* const diagonal = static_cast<Real<T>*>(d);
      auto* const beside = static_cast<Real<T>*>(e);
      auto* const vectors = static_cast<T*>(z);
      Job job(h, "cusolverDnXstedc");
      job.choice("compz", compz, compz >= CUSOLVER_EIG_COMP_N && compz <= CUSOLVER_EIG_COMP_V);
      job.size("n", n).vector("D", diagonal, n, true).vector("E", beside, n - 1, true).info(info);
      if (letter != 'N') job.matrix("Z", vectors, n, n, ldz, true);
      const int leading = letter == 'N' ? 1 : int(std::clamp<int64_t>(ldz, 0, INT_MAX));
      return job.submit(4 * cube(n), [=] {
        *info = tridiagonal_eigen<T>(letter, int(n), diagonal, beside, vectors, leading);
      });
    });
  });
}

/// A polar decomposition by singular values.
cusolverStatus_t cusolverDnXpolar(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cublasFillMode_t uplo, int64_t m, int64_t n, cudaDataType type,
                                  void* A, int64_t lda, cudaDataType h_type, void* H, int64_t ldh,
                                  cudaDataType compute, void*, size_t, void*, size_t,
                                  double* residual, double* norm, double* condition, int* info) {
  return call(__func__, handle, [&](DnHandle& handle_found) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(require_type<T>("dataTypeH", h_type));
      LIB_TRY(require_type<T>("computeType", compute));
      auto* const a = static_cast<T*>(A);
      auto* const h = static_cast<T*>(H);
      Job job(handle_found, "cusolverDnXpolar");
      job.choice("uplo", uplo, uplo >= CUBLAS_FILL_MODE_LOWER && uplo <= CUBLAS_FILL_MODE_FULL);
      job.size("M", m).size("N", n).choice("N", n, n <= m);
      job.matrix("A", a, m, n, lda, true).matrix("H", h, n, n, ldh, true).info(info);
      if (residual != nullptr) job.vector("d_res_nrm", residual, 1, true);
      if (norm != nullptr) job.vector("d_A_nrmF", norm, 1, true);
      if (condition != nullptr) job.vector("d_rcond", condition, 1, true);
      return job.submit(20 * double(m) * double(n) * double(n), [=] {
        *info = decompose_polar(uplo, int(m), int(n), a, int(lda), h, int(ldh), residual, norm,
                                condition);
      });
    });
  });
}

}  // extern "C"

}  // namespace km::cusolver
