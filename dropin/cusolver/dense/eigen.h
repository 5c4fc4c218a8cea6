// Eigenvalues and eigenvectors of symmetric, Hermitian and general matrices.
#pragma once

#include <cstring>
#include <vector>

#include "dropin/cusolver/dense/lapack.h"
#include "dropin/cusolver/frame/job.h"
#include "math/lapack/eigen.h"

namespace km::cusolver {

using math::with_divided_work;

/// symmetric_eigen_of_copy() for a matrix and eigenvalues in the program's memory.
template <class T>
int symmetric_eigen(char job, cublasFillMode_t fill, int n, T* a, int lda, Real<T>* w) {
  const MatrixCopy<T> copy(a, n, n, lda);
  const MatrixCopy<Real<T>> values(w, n, 1, n);
  const int info = math::symmetric_eigen_of_copy(job, letter(fill), n, copy.data(), copy.leading(),
                                                 values.data());
  copy.write(a, lda);
  values.write(w, n);
  return info;
}

/// symmetric_eigen() of a pencil of type 1 to 3; B gets its Cholesky factor.
template <class T>
int generalized_eigen(int type, char job, cublasFillMode_t fill, int n, T* a, int lda, T* b,
                      int ldb, Real<T>* w) {
  const MatrixCopy<T> copy(a, n, n, lda), second(b, n, n, ldb);
  const MatrixCopy<Real<T>> values(w, n, 1, n);
  const Part part = part_of(letter(fill));
  if (!are_finite(copy.data(), n, n, copy.leading(), part) ||
      !are_finite(second.data(), n, n, second.leading(), part)) {
    fill_nan(w, n, 1, n);
    if (job == 'V') fill_nan(a, n, n, lda);
    return n;
  }
  const char uplo = letter(fill);
  int info = 0;
  with_divided_work<T>([&](T* work, int lwork, Real<T>* rwork, int lrwork, int* iwork, int liwork) {
    if constexpr (kIsComplex<T>) {
      lapack<T>(kSygvd, type, job, uplo, n, copy.data(), copy.leading(), second.data(),
                second.leading(), values.data(), work, lwork, rwork, lrwork, iwork, liwork, &info);
    } else {
      lapack<T>(kSygvd, type, job, uplo, n, copy.data(), copy.leading(), second.data(),
                second.leading(), values.data(), work, lwork, iwork, liwork, &info);
    }
  });
  copy.write(a, lda);
  second.write(b, ldb);
  values.write(w, n);
  return info;
}

/// A choice among eigenvalues: all, those in (lower, upper], or those numbered from 1.
struct EigenRange {
  cusolverEigRange_t kind = CUSOLVER_EIG_RANGE_ALL;
  double lower = 0, upper = 0;
  int64_t first = 1, last = 0;
};

/// Moves the chosen eigenvalues, and their vectors if `a` is not null, to the front; returns their
/// number.
template <class T>
int choose_eigen(const EigenRange& range, int n, Real<T>* w, T* a, int lda) {
  int from = 0, to = n;
  if (range.kind == CUSOLVER_EIG_RANGE_I) {
    from = static_cast<int>(range.first) - 1;
    to = static_cast<int>(range.last);
  } else if (range.kind == CUSOLVER_EIG_RANGE_V) {
    while (from < n && !(w[from] > range.lower)) ++from;
    to = from;
    while (to < n && w[to] <= range.upper) ++to;
  }
  if (from == 0) return to;
  for (int j = from; j < to; ++j) {
    w[j - from] = w[j];
    if (a == nullptr) continue;
    std::memcpy(a + int64_t{j - from} * lda, a + int64_t{j} * lda,
                sizeof(T) * static_cast<size_t>(n));
  }
  return to - from;
}

/// A symmetric or Hermitian matrix with both triangles. As in LAPACK, imaginary parts of its
/// diagonal do not count.
template <class T>
std::vector<T> both_triangles(cublasFillMode_t fill, int n, const T* a, int lda) {
  std::vector<T> full(static_cast<size_t>(n) * static_cast<size_t>(n));
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const bool is_given = fill == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j;
      full[static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(n)] =
          is_given ? a[i + int64_t{j} * lda] : conjugate(a[j + int64_t{i} * lda]);
    }
    T& diagonal = full[static_cast<size_t>(j) * (static_cast<size_t>(n) + 1)];
    diagonal = real_part(diagonal);
  }
  return full;
}

/// The Frobenius norm of A V - V W.
template <class T>
double eigen_residual(const std::vector<T>& full, int n, const T* v, int ldv, const Real<T>* w) {
  if (n == 0) return 0;
  const T one(1), zero(0);
  const Scratch<T> product(full.size());
  lapack<T>(kGemm, 'N', 'N', n, n, n, one, full.data(), n, v, ldv, zero, product.get(), n);
  double sum = 0;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const T difference = product[i + int64_t{j} * n] - v[i + int64_t{j} * ldv] * w[j];
      sum += std::norm(std::complex<double>(difference));
    }
  }
  return std::sqrt(sum);
}

/// Eigenvalues of a general real matrix, in two arrays, and its vectors as LAPACK packs them;
/// returns LAPACK's info; n if a number is not finite.
template <class T>
int general_eigen(char left, char right, int n, T* a, int lda, T* w, T* w_imaginary, T* vl,
                  int ldvl, T* vr, int ldvr) {
  const MatrixCopy<T> copy(a, n, n, lda);
  if (!are_finite(copy.data(), n, n, copy.leading())) {
    fill_nan(w, n, 1, n);
    if (w_imaginary != nullptr) fill_nan(w_imaginary, n, 1, n);
    if (left == 'V') fill_nan(vl, n, n, ldvl);
    if (right == 'V') fill_nan(vr, n, n, ldvr);
    return n;
  }
  const auto count = [n](char job) {
    return job == 'V' ? static_cast<size_t>(n) * static_cast<size_t>(n) : 0;
  };
  const Scratch<T> lefts(count(left)), rights(count(right));
  const auto size = static_cast<size_t>(n);
  const Scratch<T> values(size), imaginary(size);
  const Scratch<Real<T>> rwork(2 * static_cast<size_t>(n));
  const int order = std::max(n, 1);
  int info = 0;
  with_work<T>([&](T* work, int lwork) {
    if constexpr (kIsComplex<T>) {
      lapack<T>(kGeev, left, right, n, copy.data(), copy.leading(), values.get(), lefts.get(),
                order, rights.get(), order, work, lwork, rwork.get(), &info);
    } else {
      lapack<T>(kGeev, left, right, n, copy.data(), copy.leading(), values.get(), imaginary.get(),
                lefts.get(), order, rights.get(), order, work, lwork, &info);
    }
  });
  copy.write(a, lda);
  std::copy_n(values.get(), n, w);
  if (w_imaginary != nullptr) std::copy_n(imaginary.get(), n, w_imaginary);
  if (left == 'V') write_matrix(lefts.get(), n, n, vl, ldvl);
  if (right == 'V') write_matrix(rights.get(), n, n, vr, ldvr);
  return info;
}

}  // namespace km::cusolver
