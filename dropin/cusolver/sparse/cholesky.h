// Cholesky factorizations of sparse matrices, row by row (up-looking).
#pragma once

#include "dropin/cusolver/sparse/csr.h"

namespace km::cusolver {

/// The structure of a factor L of a permuted matrix: its elimination tree and the size of each
/// column.
struct CholeskySymbols {
  std::vector<int> order;   // row i of the permuted matrix is row order[i]
  std::vector<int> parent;  // -1: a root
  std::vector<int> starts;  // of L's columns, and the end
};

/// The rows' elements left of the diagonal are taken: the lower triangle decides.
inline std::vector<int> elimination_tree(const Pattern& lower) {
  std::vector<int> parent(static_cast<size_t>(lower.rows), -1), ancestor = parent;
  for (int i = 0; i < lower.rows; ++i) {
    for (int k = lower.starts[i]; k < lower.starts[i + 1]; ++k) {
      for (int j = lower.indices[k]; j >= 0 && j < i;) {
        const int next = ancestor[j];
        ancestor[j] = i;
        if (next < 0) parent[j] = i;
        j = next;
      }
    }
  }
  return parent;
}

/// The columns of L that have an element in row `i`, each before its parent.
inline std::vector<int> row_of_factor(const Pattern& lower, int i, const std::vector<int>& parent,
                                      std::vector<int>& marks) {
  std::vector<int> found, path;
  marks[i] = i;
  for (int k = lower.starts[i]; k < lower.starts[i + 1]; ++k) {
    path.clear();
    for (int j = lower.indices[k]; j >= 0 && j < i && marks[j] != i; j = parent[j]) {
      path.push_back(j);
      marks[j] = i;
    }
    found.insert(found.begin(), path.begin(), path.end());
  }
  return found;
}

inline CholeskySymbols analyze(const Pattern& a, const std::vector<int>& order) {
  std::vector<int> map;
  const Pattern permuted = permute(a, order, order, &map);
  CholeskySymbols symbols{order, elimination_tree(permuted), {}};
  const auto n = static_cast<size_t>(a.rows);
  std::vector<int> marks(n, -1), counts(n, 1);
  for (int i = 0; i < a.rows; ++i) {
    for (const int j : row_of_factor(permuted, i, symbols.parent, marks)) ++counts[j];
  }
  symbols.starts.assign(n + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), symbols.starts.begin() + 1);
  return symbols;
}

/// A factor by columns, whose first elements are the diagonal.
template <class T>
struct CholeskyFactor {
  std::vector<int> starts, rows;
  std::vector<T> values;
  std::vector<Real<T>> diagonal;
  int wrong = -1;  // the first row whose pivot is not positive; -1: there is none
};

template <class T>
CholeskyFactor<T> factorize(const CholeskySymbols& symbols, const Csr<T>& a) {
  const Csr<T> permuted = permute_values(a, symbols.order, symbols.order);
  const auto n = static_cast<size_t>(a.rows);
  CholeskyFactor<T> l{symbols.starts,
                      std::vector<int>(static_cast<size_t>(symbols.starts.back())),
                      {},
                      std::vector<Real<T>>(n),
                      -1};
  l.values.resize(l.rows.size());
  std::vector<int> next(symbols.starts.begin(), symbols.starts.end() - 1), marks(n, -1);
  std::vector<T> x(n);
  for (int i = 0; i < a.rows; ++i) {
    const std::vector<int> columns = row_of_factor(permuted, i, symbols.parent, marks);
    T pivot(0);
    for (int k = permuted.starts[i]; k < permuted.starts[i + 1]; ++k) {
      const int j = permuted.indices[k];
      if (j == i) pivot += permuted.values[k];
      if (j < i) x[j] += permuted.values[k];
    }
    for (const int j : columns) {
      const T value = x[j] / l.values[l.starts[j]];
      x[j] = T(0);
      for (int k = l.starts[j] + 1; k < next[j]; ++k) {
        x[l.rows[k]] -= value * conjugate(l.values[k]);
      }
      pivot -= value * conjugate(value);
      l.rows[next[j]] = i;
      l.values[next[j]++] = value;
    }
    const Real<T> square = real_part(pivot);
    l.diagonal[i] = square > 0 ? std::sqrt(square) : square;
    if (!(square > 0)) {
      if (l.wrong < 0) l.wrong = i;
      return l;
    }
    l.rows[next[i]] = i;
    l.values[next[i]++] = std::sqrt(square);
  }
  return l;
}

template <class T>
std::vector<T> solve(const CholeskySymbols& symbols, const CholeskyFactor<T>& l,
                     const std::vector<T>& b) {
  const int n = static_cast<int>(symbols.order.size());
  std::vector<T> y(static_cast<size_t>(n)), x(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) y[i] = b[symbols.order[i]];
  for (int j = 0; j < n; ++j) {
    y[j] /= l.values[l.starts[j]];
    for (int k = l.starts[j] + 1; k < l.starts[j + 1]; ++k) y[l.rows[k]] -= l.values[k] * y[j];
  }
  for (int j = n - 1; j >= 0; --j) {
    for (int k = l.starts[j] + 1; k < l.starts[j + 1]; ++k) {
      y[j] -= conjugate(l.values[k]) * y[l.rows[k]];
    }
    y[j] /= l.values[l.starts[j]];
  }
  for (int i = 0; i < n; ++i) x[symbols.order[i]] = y[i];
  return x;
}

}  // namespace km::cusolver
