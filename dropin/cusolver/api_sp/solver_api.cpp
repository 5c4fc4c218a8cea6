// Solutions of sparse systems and least squares problems in one call, and eigenvalues.
#include "dropin/cusolver/api_sp/exports.h"
#include "dropin/cusolver/dense/eigen.h"
#include "dropin/cusolver/sparse/cholesky.h"
#include "dropin/cusolver/sparse/lu.h"
#include "dropin/cusolver/sparse/orderings.h"
#include "dropin/cusolver/sparse/qr.h"

namespace km::cusolver {

namespace {

cusolverStatus_t check_reorder(int reorder) {
  if (reorder >= 0 && reorder <= 3) return CUSOLVER_STATUS_SUCCESS;
  return invalid("reorder is %d, which is not 0 to 3", reorder);
}

/// The methods by which a square system is solved. Each returns the first row or column that is
/// singular, or -1.
enum class Method : uint8_t { kQr, kCholesky, kLu };

template <class T>
int solve_by_qr(const Csr<T>& a, double tolerance, int reorder, const std::vector<T>& b,
                std::vector<T>* x) {
  const std::vector<int> order = ordering_of(reorder, a);
  const SparseQr<T> qr(permute_values(a, order, order), 0);
  const int dependent = qr.find_dependent(tolerance);
  if (dependent >= 0) return dependent;
  std::vector<T> right(b.size());
  for (size_t i = 0; i < b.size(); ++i) right[i] = b[static_cast<size_t>(order[i])];
  const std::vector<T> found = qr.solve(right);
  for (size_t i = 0; i < b.size(); ++i) (*x)[static_cast<size_t>(order[i])] = found[i];
  return -1;
}

template <class T>
int solve_by_cholesky(const Csr<T>& a, double tolerance, int reorder, const std::vector<T>& b,
                      std::vector<T>* x) {
  const CholeskySymbols symbols = analyze(a, ordering_of(reorder, a));
  const CholeskyFactor<T> l = factorize(symbols, a);
  if (l.wrong >= 0) return l.wrong;
  for (size_t i = 0; i < l.diagonal.size(); ++i) {
    if (!(double(l.diagonal[i]) > tolerance)) return static_cast<int>(i);
  }
  *x = solve(symbols, l, b);
  return -1;
}

template <class T>
int solve_by_lu(const Csr<T>& a, double tolerance, int reorder, const std::vector<T>& b,
                std::vector<T>* x) {
  const SparseLu<T> lu = factorize(a, ordering_of(reorder, a), 1.0);
  if (lu.wrong >= 0) return lu.wrong;
  for (int j = 0; j < lu.n; ++j) {
    if (!(lu.pivot_size(j) > tolerance)) return j;
  }
  *x = solve(lu, b);
  return -1;
}

#define KM_P_LSV(P, T)                                                           \
  KM_P_SQUARE(P, T), P(const T*, b), P(Real<T>, tol), P(int, reorder), P(T*, x), \
      P(int*, singularity)

template <class T, Method kMethod, bool kHost>
cusolverStatus_t lsv(SpHandle& h, KM_P_LSV(KM_SIGNATURE, T)) {
  LIB_TRY(check_reorder(reorder));
  Places places(h, kHost);
  Csr<Native<T>> a;
  std::vector<Native<T>> right, solution;
  LIB_TRY(read_matrix(places, {m, m, nnz, descrA, csrRowPtr, csrColInd}, csrVal, &a));
  LIB_TRY(places.read("b", native(b), m, &right));
  solution.resize(right.size());
  const double tolerance = std::max<double>(double(tol), 0);
  int wrong = -1;
  if constexpr (kMethod == Method::kQr)
    wrong = solve_by_qr(a, tolerance, reorder, right, &solution);
  if constexpr (kMethod == Method::kLu)
    wrong = solve_by_lu(a, tolerance, reorder, right, &solution);
  if constexpr (kMethod == Method::kCholesky) {
    wrong = solve_by_cholesky(a, tolerance, reorder, right, &solution);
  }
  if (wrong < 0) LIB_TRY(places.write("x", native(x), solution));
  return write_value("singularity", singularity, wrong);
}

#define KM_P_LSQVQR(P, T)                                                                      \
  KM_P_RECTANGLE(P, T), P(const T*, b), P(Real<T>, tol), P(int*, rankA), P(T*, x), P(int*, p), \
      P(Real<T>*, min_norm)
template <class T>
cusolverStatus_t lsqvqr_host(SpHandle& h, KM_P_LSQVQR(KM_SIGNATURE, T)) {
  if (m < n) return invalid("m is %d and n is %d; there are at least as many rows", m, n);
  Places places(h, true);
  Csr<Native<T>> a;
  std::vector<Native<T>> right;
  LIB_TRY(read_matrix(places, {m, n, nnz, descrA, csrRowPtr, csrColInd}, csrVal, &a));
  LIB_TRY(places.read("b", native(b), m, &right));
  const SparseQr<Native<T>> qr(a, std::max<double>(double(tol), 0));
  const std::vector<Native<T>> solution = qr.solve(right);
  std::vector<Native<T>> rest = product(a, solution);
  for (size_t i = 0; i < rest.size(); ++i) rest[i] -= right[i];
  LIB_TRY(places.write("x", native(x), solution));
  LIB_TRY(places.write("p", p, qr.order()));
  LIB_TRY(write_value("rankA", rankA, qr.rank()));
  return write_value("min_norm", min_norm, static_cast<Real<T>>(norm_of(rest)));
}

/// The matrix with `shift` subtracted from its diagonal.
template <class T>
Csr<T> shifted(const Csr<T>& a, const T& shift) {
  Csr<T> result;
  result.rows = result.columns = a.rows;
  result.starts.push_back(0);
  for (int i = 0; i < a.rows; ++i) {
    result.indices.push_back(i);
    result.values.push_back(-shift);
    for (int k = a.starts[i]; k < a.starts[i + 1]; ++k) {
      if (a.indices[k] == i) {
        result.values[static_cast<size_t>(result.starts.back())] += a.values[k];
      } else {
        result.indices.push_back(a.indices[k]);
        result.values.push_back(a.values[k]);
      }
    }
    result.starts.push_back(static_cast<int>(result.indices.size()));
  }
  return result;
}

template <class T>
void normalize(std::vector<T>* x) {
  const double norm = norm_of(*x);
  for (T& each : *x) each /= static_cast<Real<T>>(norm);
}

/// Finds the eigenvalue nearest to `shift` by inverse iteration from `x`.
template <class T>
T nearest_eigenvalue(const Csr<T>& a, const T& shift, int most, double tolerance,
                     std::vector<T>* x) {
  const SparseLu<T> lu = factorize(shifted(a, shift), minimum_degree(a), 1.0);
  T value = shift;
  normalize(x);
  for (int step = 0; step < std::max(most, 1); ++step) {
    if (lu.wrong < 0) *x = solve(lu, *x);
    normalize(x);
    std::vector<T> image = product(a, *x);
    value = T(0);
    for (size_t i = 0; i < image.size(); ++i) value += conjugate((*x)[i]) * image[i];
    for (size_t i = 0; i < image.size(); ++i) image[i] -= value * (*x)[i];
    if (norm_of(image) <= tolerance || lu.wrong >= 0) break;
  }
  return value;
}

#define KM_P_EIGVSI(P, T)                                                                    \
  KM_P_SQUARE(P, T), P(T, mu0), P(const T*, x0), P(int, maxite), P(Real<T>, tol), P(T*, mu), \
      P(T*, x)
template <class T, bool kHost>
cusolverStatus_t eigvsi(SpHandle& h, KM_P_EIGVSI(KM_SIGNATURE, T)) {
  Places places(h, kHost);
  Csr<Native<T>> a;
  std::vector<Native<T>> vector;
  LIB_TRY(read_matrix(places, {m, m, nnz, descrA, csrRowPtr, csrColInd}, csrVal, &a));
  LIB_TRY(places.read("x0", native(x0), m, &vector));
  const Native<T> value =
      nearest_eigenvalue(a, *native(&mu0), maxite, std::max<double>(double(tol), 0), &vector);
  LIB_TRY(places.write("x", native(x), vector));
  return places.write("mu", native(mu), std::vector<Native<T>>{value});
}

/// Counts the eigenvalues in a box by LAPACK, which finds all of them.
template <class T>
int count_eigenvalues(const Csr<T>& a, const std::complex<double>& low,
                      const std::complex<double>& high) {
  const int n = a.rows;
  std::vector<T> dense(static_cast<size_t>(n) * static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) {
    for (int k = a.starts[i]; k < a.starts[i + 1]; ++k) {
      dense[static_cast<size_t>(i) + static_cast<size_t>(a.indices[k]) * static_cast<size_t>(n)] +=
          a.values[k];
    }
  }
  std::vector<T> values(static_cast<size_t>(n)), imaginary(static_cast<size_t>(n));
  T* const none = nullptr;
  general_eigen('N', 'N', n, dense.data(), std::max(n, 1), values.data(), imaginary.data(), none, 1,
                none, 1);
  int count = 0;
  for (int i = 0; i < n; ++i) {
    std::complex<double> value(values[i]);
    if constexpr (!kIsComplex<T>) value.imag(imaginary[i]);
    if (value.real() >= low.real() && value.real() <= high.real() && value.imag() >= low.imag() &&
        value.imag() <= high.imag()) {
      ++count;
    }
  }
  return count;
}

/// The complex numbers of real functions are of twice their size.
template <class T>
using Corner = std::conditional_t<std::is_same_v<Real<T>, float>, cuComplex, cuDoubleComplex>;

#define KM_P_EIGS(P, T) KM_P_SQUARE(P, T), P(Corner<T>, low), P(Corner<T>, high), P(int*, num_eigs)
template <class T>
cusolverStatus_t eigs_host(SpHandle& h, KM_P_EIGS(KM_SIGNATURE, T)) {
  LIB_TRY(require_lapack());
  Places places(h, true);
  Csr<Native<T>> a;
  LIB_TRY(read_matrix(places, {m, m, nnz, descrA, csrRowPtr, csrColInd}, csrVal, &a));
  return write_value("num_eigs", num_eigs, count_eigenvalues(a, {low.x, low.y}, {high.x, high.y}));
}

}  // namespace

KM_EXPORT_SP_ALL(csrlsvqr, KM_P_LSV, lsv, , Method::kQr, false)
KM_EXPORT_SP_ALL(csrlsvqrHost, KM_P_LSV, lsv, , Method::kQr, true)
KM_EXPORT_SP_ALL(csrlsvchol, KM_P_LSV, lsv, , Method::kCholesky, false)
KM_EXPORT_SP_ALL(csrlsvcholHost, KM_P_LSV, lsv, , Method::kCholesky, true)
KM_EXPORT_SP_ALL(csrlsvluHost, KM_P_LSV, lsv, , Method::kLu, true)
KM_EXPORT_SP_ALL(csrlsqvqrHost, KM_P_LSQVQR, lsqvqr_host)
KM_EXPORT_SP_ALL(csreigvsi, KM_P_EIGVSI, eigvsi, , false)
KM_EXPORT_SP_ALL(csreigvsiHost, KM_P_EIGVSI, eigvsi, , true)
KM_EXPORT_SP_ALL(csreigsHost, KM_P_EIGS, eigs_host)

}  // namespace km::cusolver
