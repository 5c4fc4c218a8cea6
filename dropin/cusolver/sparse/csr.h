// Sparse matrices by rows, checked and with indices from 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "dropin/cusolver/frame/types.h"

namespace km::cusolver {

/// The places of a matrix's elements.
struct Pattern {
  int rows = 0, columns = 0;
  std::vector<int> starts;   // of each row, and the end
  std::vector<int> indices;  // columns
  int count() const { return starts.empty() ? 0 : starts.back(); }
};

template <class T>
struct Csr : Pattern {
  std::vector<T> values;
};

/// A permutation is valid if each number from 0 on occurs once.
inline bool is_permutation(const std::vector<int>& p) {
  std::vector<bool> seen(p.size());
  for (const int each : p) {
    if (each < 0 || static_cast<size_t>(each) >= p.size() || seen[static_cast<size_t>(each)]) {
      return false;
    }
    seen[static_cast<size_t>(each)] = true;
  }
  return true;
}

inline std::vector<int> inverse_of(const std::vector<int>& p) {
  std::vector<int> inverse(p.size());
  for (size_t i = 0; i < p.size(); ++i) inverse[static_cast<size_t>(p[i])] = static_cast<int>(i);
  return inverse;
}

inline std::vector<int> identity_of(int n) {
  std::vector<int> p(static_cast<size_t>(n));
  std::iota(p.begin(), p.end(), 0);
  return p;
}

/// The matrix with columns as rows; `order`, if not null, gets the place of each element in `a`.
inline Pattern transpose(const Pattern& a, std::vector<int>* order = nullptr) {
  Pattern t;
  t.rows = a.columns;
  t.columns = a.rows;
  t.starts.assign(static_cast<size_t>(t.rows) + 1, 0);
  for (const int j : a.indices) ++t.starts[static_cast<size_t>(j) + 1];
  std::partial_sum(t.starts.begin(), t.starts.end(), t.starts.begin());
  std::vector<int> next(t.starts.begin(), t.starts.end() - 1);
  t.indices.resize(a.indices.size());
  if (order != nullptr) order->resize(a.indices.size());
  for (int i = 0; i < a.rows; ++i) {
    for (int k = a.starts[i]; k < a.starts[i + 1]; ++k) {
      const int place = next[a.indices[k]]++;
      t.indices[place] = i;
      if (order != nullptr) (*order)[place] = k;
    }
  }
  return t;
}

template <class T>
Csr<T> transpose_values(const Csr<T>& a) {
  std::vector<int> order;
  Csr<T> t;
  static_cast<Pattern&>(t) = transpose(a, &order);
  t.values.resize(order.size());
  for (size_t k = 0; k < order.size(); ++k) t.values[k] = a.values[static_cast<size_t>(order[k])];
  return t;
}

/// B(i, j) = A(p[i], q[j]); `map` gets the place in A of each element.
inline Pattern permute(const Pattern& a, const std::vector<int>& p, const std::vector<int>& q,
                       std::vector<int>* map) {
  const std::vector<int> inverse = inverse_of(q);
  Pattern b;
  b.rows = a.rows;
  b.columns = a.columns;
  b.starts.push_back(0);
  map->clear();
  for (int i = 0; i < a.rows; ++i) {
    std::vector<std::pair<int, int>> row;
    for (int k = a.starts[p[i]]; k < a.starts[p[i] + 1]; ++k) {
      row.emplace_back(inverse[a.indices[k]], k);
    }
    std::sort(row.begin(), row.end());
    for (const auto& [column, place] : row) {
      b.indices.push_back(column);
      map->push_back(place);
    }
    b.starts.push_back(static_cast<int>(b.indices.size()));
  }
  return b;
}

template <class T>
Csr<T> permute_values(const Csr<T>& a, const std::vector<int>& p, const std::vector<int>& q) {
  std::vector<int> map;
  Csr<T> b;
  static_cast<Pattern&>(b) = permute(a, p, q, &map);
  for (const int place : map) b.values.push_back(a.values[static_cast<size_t>(place)]);
  return b;
}

/// y = A x.
template <class T>
std::vector<T> product(const Csr<T>& a, const std::vector<T>& x) {
  std::vector<T> y(static_cast<size_t>(a.rows));
  for (int i = 0; i < a.rows; ++i) {
    T sum(0);
    for (int k = a.starts[i]; k < a.starts[i + 1]; ++k) sum += a.values[k] * x[a.indices[k]];
    y[static_cast<size_t>(i)] = sum;
  }
  return y;
}

template <class T>
double norm_of(const std::vector<T>& x) {
  double sum = 0;
  for (const T& each : x) sum += std::norm(std::complex<double>(each));
  return std::sqrt(sum);
}

}  // namespace km::cusolver
