// Eigenvalues and eigenvectors of symmetric and Hermitian matrices.
#pragma once

#include "math/lapack/copies.h"
#include "math/lapack/finite.h"

namespace km::math {

/// Work of LAPACK's divide-and-conquer routines: elements, real numbers for complex types, and
/// integers. `routine` is a function of (work, lwork, rwork, lrwork, iwork, liwork).
template <class T, class Function>
void with_divided_work(Function&& routine) {
  T work{};
  Real<T> real_work{};
  int integers = 0;
  routine(&work, -1, &real_work, -1, &integers, -1);
  const int size = answered_size(work), reals = answered_size(real_work);
  const Scratch<T> elements(static_cast<size_t>(size));
  const Scratch<Real<T>> real_elements(static_cast<size_t>(reals));
  const int integer_count = std::max(integers, 1);
  const Scratch<int> integer_elements(static_cast<size_t>(integer_count));
  routine(elements.get(), size, real_elements.get(), reals, integer_elements.get(), integer_count);
}

/// Eigenvalues in ascending order; with 'V' the vectors take A's place. The arrays are scratch
/// memory. Returns LAPACK's info; n if a number is not finite, and then all results are NaN.
template <class T>
int symmetric_eigen_of_copy(char job, char triangle, int n, T* a, int lda, Real<T>* w) {
  if (!are_finite(a, n, n, lda, part_of(triangle))) {
    fill_nan(w, n, 1, n);
    if (job == 'V') fill_nan(a, n, n, lda);
    return n;
  }
  int info = 0;
  with_divided_work<T>([&](T* work, int lwork, Real<T>* rwork, int lrwork, int* iwork, int liwork) {
    if constexpr (kIsComplex<T>) {
      lapack<T>(kSyevd, job, triangle, n, a, lda, w, work, lwork, rwork, lrwork, iwork, liwork,
                &info);
    } else {
      lapack<T>(kSyevd, job, triangle, n, a, lda, w, work, lwork, iwork, liwork, &info);
    }
  });
  return info;
}

}  // namespace km::math
