// LU factorizations with and without row exchanges.
#pragma once

#include "dropin/cusolver/dense/lapack.h"
#include "math/lapack/exchanges.h"

namespace km::cusolver {

/// The columns that are factorized one by one.
constexpr int kLuBlock = 32;

/// Factorizes a panel without row exchanges. Returns the first column whose pivot is zero, counted
/// from 1, or 0.
template <class T>
int factorize_panel(int m, int n, T* a, int64_t lda) {
  int info = 0;
  for (int k = 0; k < std::min(m, n); ++k) {
    const T pivot = a[k + k * lda];
    if (pivot == T(0)) {
      if (info == 0) info = k + 1;
      continue;
    }
    for (int i = k + 1; i < m; ++i) a[i + k * lda] /= pivot;
    for (int j = k + 1; j < n; ++j) {
      const T factor = a[k + j * lda];
      for (int i = k + 1; i < m; ++i) a[i + j * lda] -= a[i + k * lda] * factor;
    }
  }
  return info;
}

/// Factorizes a matrix without row exchanges, as factorize_panel().
template <class T>
int factorize_without_pivots(int m, int n, T* a, int64_t lda) {
  const T one(1), minus_one(-1);
  const int leading = static_cast<int>(lda);
  int info = 0;
  for (int k = 0; k < std::min(m, n); k += kLuBlock) {
    const int width = std::min({kLuBlock, m - k, n - k}), below = m - k - width;
    const int right = n - k - width;
    T* const diagonal = a + k + k * lda;
    const int wrong = factorize_panel(m - k, width, diagonal, lda);
    if (wrong != 0 && info == 0) info = k + wrong;
    if (right == 0) continue;
    T* const beside = diagonal + width * lda;
    lapack<T>(kTrsm, 'L', 'L', 'N', 'U', width, right, one, diagonal, leading, beside, leading);
    if (below == 0) continue;
    lapack<T>(kGemm, 'N', 'N', below, right, width, minus_one, diagonal + width, leading, beside,
              leading, one, beside + width, leading);
  }
  return info;
}

/// Solves with the factors of factorize_without_pivots().
template <class T>
void solve_without_pivots(char operation, int n, int nrhs, const T* a, int lda, T* b, int ldb) {
  const T one(1);
  if (operation == 'N') {
    lapack<T>(kTrsm, 'L', 'L', 'N', 'U', n, nrhs, one, a, lda, b, ldb);
    lapack<T>(kTrsm, 'L', 'U', 'N', 'N', n, nrhs, one, a, lda, b, ldb);
  } else {
    lapack<T>(kTrsm, 'L', 'U', operation, 'N', n, nrhs, one, a, lda, b, ldb);
    lapack<T>(kTrsm, 'L', 'L', operation, 'U', n, nrhs, one, a, lda, b, ldb);
  }
}

}  // namespace km::cusolver
