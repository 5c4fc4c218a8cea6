// LU factorizations of sparse matrices, column by column (left-looking), with exchanges of rows.
#pragma once

#include "dropin/cusolver/sparse/csr.h"

namespace km::cusolver {

/// P A Q^T = L U: row i of L U is row p[i] of A, column j is column q[j]. Both are by columns; L's
/// first elements are its diagonal of ones, U's last ones are its diagonal.
template <class T>
struct SparseLu {
  int n = 0;
  std::vector<int> p, q;
  std::vector<int> l_starts{0}, l_rows, u_starts{0}, u_rows;
  std::vector<T> l_values, u_values;
  int wrong = -1;  // the first column whose pivot is zero; -1: there is none

  double pivot_size(int j) const {
    return std::abs(std::complex<double>(u_values[static_cast<size_t>(u_starts[j + 1]) - 1]));
  }
};

/// Finds the columns of L that a column's solution reaches, each before those that it changes.
class Reach {
 public:
  explicit Reach(int n) : marks_(static_cast<size_t>(n), -1) {}

  template <class T>
  const std::vector<int>& find(const SparseLu<T>& lu, const std::vector<int>& pivot_of,
                               const int* begin, const int* end, int mark) {
    found_.clear();
    for (const int* row = begin; row != end; ++row) {
      if (marks_[*row] != mark) visit(lu, pivot_of, *row, mark);
    }
    std::reverse(found_.begin(), found_.end());
    return found_;
  }

 private:
  template <class T>
  void visit(const SparseLu<T>& lu, const std::vector<int>& pivot_of, int row, int mark) {
    stack_.assign(1, {row, 0});
    marks_[row] = mark;
    while (!stack_.empty()) {
      auto& [top, next] = stack_.back();
      const int column = pivot_of[top];
      const int count = column < 0 ? 0 : lu.l_starts[column + 1] - lu.l_starts[column] - 1;
      if (next == count) {
        found_.push_back(top);
        stack_.pop_back();
        continue;
      }
      const int other = lu.l_rows[lu.l_starts[column] + 1 + next++];
      if (marks_[other] == mark) continue;
      marks_[other] = mark;
      stack_.emplace_back(other, 0);
    }
  }

  std::vector<int> marks_, found_;
  std::vector<std::pair<int, int>> stack_;
};

/// Factorizes with the columns in the order `q`. A diagonal element is the pivot if it is at least
/// `threshold` times the greatest one.
template <class T>
SparseLu<T> factorize(const Csr<T>& a, const std::vector<int>& q, double threshold) {
  const int n = a.rows;
  const auto size = static_cast<size_t>(n);
  const Csr<T> columns = transpose_values(a);
  SparseLu<T> lu;
  lu.n = n;
  lu.q = q;
  lu.p.assign(size, -1);
  std::vector<int> pivot_of(size, -1);  // the column of L in which a row is the pivot
  std::vector<T> x(size);
  Reach reach(n);
  for (int j = 0; j < n; ++j) {
    const int begin = columns.starts[q[j]], end = columns.starts[q[j] + 1];
    const std::vector<int>& rows =
        reach.find(lu, pivot_of, columns.indices.data() + begin, columns.indices.data() + end, j);
    for (int k = begin; k < end; ++k) x[columns.indices[k]] += columns.values[k];
    int pivot = -1;
    double greatest = -1;
    for (const int row : rows) {
      const int column = pivot_of[row];
      if (column < 0) {
        const double magnitude = std::abs(std::complex<double>(x[row]));
        if (magnitude > greatest) {
          greatest = magnitude;
          pivot = row;
        }
        continue;
      }
      lu.u_rows.push_back(column);
      lu.u_values.push_back(x[row]);
      for (int k = lu.l_starts[column] + 1; k < lu.l_starts[column + 1]; ++k) {
        x[lu.l_rows[k]] -= lu.l_values[k] * x[row];
      }
    }
    const bool has_diagonal = pivot_of[q[j]] < 0 &&
                              std::abs(std::complex<double>(x[q[j]])) >= greatest * threshold &&
                              x[q[j]] != T(0);
    if (has_diagonal) pivot = q[j];
    const bool is_singular = pivot < 0 || x[pivot] == T(0);
    if (is_singular && lu.wrong < 0) lu.wrong = j;
    for (int row = 0; pivot < 0; ++row) {
      if (pivot_of[row] < 0) pivot = row;
    }
    const T value = x[pivot];
    lu.u_rows.push_back(j);
    lu.u_values.push_back(value);
    lu.l_rows.push_back(pivot);
    lu.l_values.push_back(T(1));
    pivot_of[pivot] = j;
    lu.p[j] = pivot;
    for (const int row : rows) {
      if (pivot_of[row] < 0 && x[row] != T(0)) {
        lu.l_rows.push_back(row);
        lu.l_values.push_back(is_singular ? T(0) : x[row] / value);
      }
      x[row] = T(0);
    }
    lu.l_starts.push_back(static_cast<int>(lu.l_rows.size()));
    lu.u_starts.push_back(static_cast<int>(lu.u_rows.size()));
  }
  for (int& row : lu.l_rows) row = pivot_of[row];
  return lu;
}

template <class T>
std::vector<T> solve(const SparseLu<T>& lu, const std::vector<T>& b) {
  std::vector<T> y(static_cast<size_t>(lu.n)), x(static_cast<size_t>(lu.n));
  for (int i = 0; i < lu.n; ++i) y[i] = b[lu.p[i]];
  for (int j = 0; j < lu.n; ++j) {
    for (int k = lu.l_starts[j] + 1; k < lu.l_starts[j + 1]; ++k) {
      y[lu.l_rows[k]] -= lu.l_values[k] * y[j];
    }
  }
  for (int j = lu.n - 1; j >= 0; --j) {
    const int last = lu.u_starts[j + 1] - 1;
    y[j] /= lu.u_values[last];
    for (int k = lu.u_starts[j]; k < last; ++k) y[lu.u_rows[k]] -= lu.u_values[k] * y[j];
  }
  for (int j = 0; j < lu.n; ++j) x[lu.q[j]] = y[j];
  return x;
}

}  // namespace km::cusolver
