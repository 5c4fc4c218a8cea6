// Cholesky factorizations.
#pragma once

#include "math/lapack/finite.h"
#include "math/lapack/lapack.h"

namespace km::math {

/// Factorizes in scratch memory. Returns the order of the first leading minor that is not positive
/// definite, or 0. OpenBLAS does not see that NaN is not positive.
template <class T>
int factorize_positive(char triangle, int n, T* a, int lda) {
  const int infinite = first_infinite_minor(a, n, lda, part_of(triangle));
  const int order = std::min(infinite - 1, n);
  int info = 0;
  if (order > 0) lapack<T>(kPotrf, triangle, order, a, lda, &info);
  if (info != 0) return info;
  if (order < n) return infinite;
  for (int i = 0; i < n; ++i) {  // a sum may have become infinite
    if (!is_finite(a[i + int64_t{i} * lda])) return i + 1;
  }
  return 0;
}

}  // namespace km::math
