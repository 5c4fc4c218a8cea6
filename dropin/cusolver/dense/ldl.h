// Symmetric and Hermitian indefinite factorizations.
#pragma once

#include <vector>

#include "dropin/cusolver/dense/lapack.h"

namespace km::cusolver {

/// The elements of a triangle, in the order in which a factorization without exchanges runs: from
/// the first row on for a lower triangle, from the last one on for an upper one.
template <class T>
struct TriangleOrder {
  T& operator()(int i, int j) const { return a[row(i) + row(j) * lda]; }
  int64_t row(int i) const { return is_upper ? n - 1 - i : i; }
  T* a;
  int64_t lda;
  int n;
  bool is_upper;
};

template <bool kHermitian, class T>
T reflected(const T& value) {
  return kHermitian ? conjugate(value) : value;
}

/// Factorizes A = L D L^T (L^H if Hermitian) without exchanges; of an upper triangle A = U D U^T.
/// Returns the first row whose pivot is zero, counted from 1, or 0.
template <bool kHermitian, class T>
int factorize_triangle(const TriangleOrder<T>& a) {
  int info = 0;
  for (int k = 0; k < a.n; ++k) {
    const T pivot = a(k, k);
    if (pivot == T(0)) {
      if (info == 0) info = static_cast<int>(a.row(k)) + 1;
      continue;
    }
    for (int j = k + 1; j < a.n; ++j) {
      const T factor = reflected<kHermitian>(a(j, k)) / pivot;
      for (int i = j; i < a.n; ++i) a(i, j) -= a(i, k) * factor;
    }
    for (int i = k + 1; i < a.n; ++i) a(i, k) /= pivot;
  }
  return info;
}

/// Solves with the factors of factorize_triangle() for one right-hand side.
template <bool kHermitian, class T>
void solve_triangle(const TriangleOrder<const T>& a, T* b) {
  for (int k = 0; k < a.n; ++k) {
    for (int i = k + 1; i < a.n; ++i) b[a.row(i)] -= a(i, k) * b[a.row(k)];
  }
  for (int k = 0; k < a.n; ++k) b[a.row(k)] /= a(k, k);
  for (int k = a.n - 1; k >= 0; --k) {
    for (int i = k + 1; i < a.n; ++i) b[a.row(k)] -= reflected<kHermitian>(a(i, k)) * b[a.row(i)];
  }
}

/// True if LAPACK's exchanges of a factorization stay inside `n` rows: a number is that of a row,
/// and numbers below zero come in equal pairs.
template <class Int>
bool are_exchanges(const Int* pivots, int n, bool is_upper) {
  const auto at = [&](int i) { return pivots[is_upper ? n - 1 - i : i]; };
  for (int i = 0; i < n; ++i) {
    const Int row = at(i);
    if (row == 0 || row > n || row < -Int{n}) return false;
    if (row > 0) continue;
    if (i + 1 == n || at(i + 1) != row) return false;
    ++i;
  }
  return true;
}

/// Copies exchanges to LAPACK's type; empty if one is wrong.
template <class Int>
std::vector<int> read_exchanges(const Int* pivots, int64_t n, bool is_upper) {
  const std::vector<Int> copied(pivots, pivots + n);
  if (!are_exchanges(copied.data(), static_cast<int>(n), is_upper)) return {};
  return std::vector<int>(copied.begin(), copied.end());
}

}  // namespace km::cusolver
