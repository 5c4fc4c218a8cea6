// Singular value decompositions A = U S V^H.
#pragma once

#include "dropin/cusolver/dense/lapack.h"
#include "math/lapack/svd.h"

namespace km::cusolver {

using math::Decomposition;

/// decompose_copy() for arrays in the program's memory.
template <class T>
int decompose(const Decomposition<T>& d) {
  const MatrixCopy<T> a(d.a, d.m, d.n, d.lda);
  const Scratch<Real<T>> values(static_cast<size_t>(d.least()));
  const Scratch<T> u(d.has_u() ? static_cast<size_t>(d.m) * static_cast<size_t>(d.u_columns()) : 0);
  const Scratch<T> vt(d.has_vt() ? static_cast<size_t>(d.vt_rows()) * static_cast<size_t>(d.n) : 0);
  Decomposition<T> copied = d;
  copied.a = a.data();
  copied.lda = a.leading();
  copied.s = values;
  copied.u = u;
  copied.ldu = std::max(d.m, 1);
  copied.vt = vt;
  copied.ldvt = std::max(d.vt_rows(), 1);
  const int info = math::decompose_copy(copied);
  a.write(d.a, d.lda);
  std::copy_n(values.get(), d.least(), d.s);
  if (d.has_u()) write_matrix(u.get(), d.m, d.u_columns(), d.u, d.ldu);
  if (d.has_vt()) write_matrix(vt.get(), d.vt_rows(), d.n, d.vt, d.ldvt);
  return info;
}

/// Writes the first `columns` columns of V, of which `vt` is the conjugate transpose.
template <class T>
void write_v(const T* vt, int ldvt, int n, int columns, T* v, int64_t ldv) {
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < n; ++i) v[i + j * ldv] = conjugate(vt[j + int64_t{i} * ldvt]);
  }
}

/// Decomposes a matrix for a caller that takes V and not its conjugate transpose: `columns` columns
/// of U and V are written, or none if `job` is 'N'.
template <class T>
int decompose_to_v(char job, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* v,
                   int ldv) {
  const int rows = job == 'A' ? n : std::min(m, n);
  const Scratch<T> vt(job == 'N' ? 0 : static_cast<size_t>(rows) * static_cast<size_t>(n));
  const int leading = std::max(rows, 1);
  const int info = decompose(Decomposition<T>{job, job, m, n, a, lda, s, u, ldu, vt, leading});
  if (job != 'N') write_v<T>(vt, leading, n, rows, v, ldv);
  return info;
}

/// The Frobenius norm of A - U S V^H with `rank` columns.
template <class T>
double svd_residual(int m, int n, int rank, const T* a, int64_t lda, const Real<T>* s, const T* u,
                    int64_t ldu, const T* v, int64_t ldv) {
  if (m == 0 || n == 0) return 0;
  const T one(1), zero(0);
  const auto rows = static_cast<size_t>(m), columns = static_cast<size_t>(rank);
  const Scratch<T> scaled(rows * columns), product(rows * static_cast<size_t>(n));
  for (int64_t j = 0; j < rank; ++j) {
    for (int64_t i = 0; i < m; ++i) scaled[i + j * m] = u[i + j * ldu] * s[j];
  }
  lapack<T>(kGemm, 'N', 'C', m, n, rank, one, scaled.get(), m, v, int(ldv), zero, product.get(), m);
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      sum += std::norm(std::complex<double>(product[i + j * m] - a[i + j * lda]));
    }
  }
  return std::sqrt(sum);
}

}  // namespace km::cusolver
