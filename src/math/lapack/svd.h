// Singular value decompositions A = U S V^H.
#pragma once

#include "math/lapack/copies.h"
#include "math/lapack/finite.h"

namespace km::math {

/// A matrix and the places of its decomposition. The letters are LAPACK's: 'A' all vectors, 'S'
/// the first min(m, n), 'O' those in A's place, 'N' none.
template <class T>
struct Decomposition {
  char jobu, jobvt;
  int m, n;
  T* a;
  int lda;
  Real<T>* s;
  T* u;
  int ldu;
  T* vt;
  int ldvt;

  int least() const { return std::min(m, n); }
  bool has_u() const { return jobu == 'A' || jobu == 'S'; }
  bool has_vt() const { return jobvt == 'A' || jobvt == 'S'; }
  int u_columns() const { return jobu == 'A' ? m : least(); }
  int vt_rows() const { return jobvt == 'A' ? n : least(); }
};

template <class T>
int divided_svd(const Decomposition<T>& d) {
  const auto least = static_cast<size_t>(d.least()), most = static_cast<size_t>(std::max(d.m, d.n));
  const size_t reals = 5 * least * least + 7 * least + 2 * most * least + 2 * least * least;
  const Scratch<Real<T>> rwork(kIsComplex<T> ? reals : 0);
  const Scratch<int> iwork(8 * least);
  int info = 0;
  with_work<T>([&](T* work, int lwork) {
    if constexpr (kIsComplex<T>) {
      lapack<T>(kGesdd, d.jobu, d.m, d.n, d.a, d.lda, d.s, d.u, d.ldu, d.vt, d.ldvt, work, lwork,
                rwork.get(), iwork.get(), &info);
    } else {
      lapack<T>(kGesdd, d.jobu, d.m, d.n, d.a, d.lda, d.s, d.u, d.ldu, d.vt, d.ldvt, work, lwork,
                iwork.get(), &info);
    }
  });
  return info;
}

template <class T>
int iterated_svd(const Decomposition<T>& d) {
  const Scratch<Real<T>> rwork(kIsComplex<T> ? 5 * static_cast<size_t>(d.least()) : 0);
  int info = 0;
  with_work<T>([&](T* work, int lwork) {
    if constexpr (kIsComplex<T>) {
      lapack<T>(kGesvd, d.jobu, d.jobvt, d.m, d.n, d.a, d.lda, d.s, d.u, d.ldu, d.vt, d.ldvt, work,
                lwork, rwork.get(), &info);
    } else {
      lapack<T>(kGesvd, d.jobu, d.jobvt, d.m, d.n, d.a, d.lda, d.s, d.u, d.ldu, d.vt, d.ldvt, work,
                lwork, &info);
    }
  });
  return info;
}

/// Decomposes the matrix, which is overwritten. The arrays are scratch memory. Returns LAPACK's
/// info; min(m, n) if a number is not finite, and then all results are NaN.
template <class T>
int decompose_copy(const Decomposition<T>& d) {
  if (!are_finite(d.a, d.m, d.n, d.lda)) {
    fill_nan(d.s, d.least(), 1, d.least());
    if (d.has_u()) fill_nan(d.u, d.m, d.u_columns(), d.ldu);
    if (d.has_vt()) fill_nan(d.vt, d.vt_rows(), d.n, d.ldvt);
    if (d.jobu == 'O' || d.jobvt == 'O') fill_nan(d.a, d.m, d.n, d.lda);
    return d.least();
  }
  return d.jobu == d.jobvt ? divided_svd(d) : iterated_svd(d);
}

}  // namespace km::math
