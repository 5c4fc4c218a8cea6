#include "dropin/cusolver/sparse/refactorization.h"

namespace km::cusolver {

bool Refactorization::set_up(const Csr<double>& a, const Pattern& l, const Pattern& u,
                             std::vector<int> p, std::vector<int> q) {
  a_ = a;
  values_ = a.values;
  factors_.rows = factors_.columns = a.rows;
  factors_.starts.assign(1, 0);
  factors_.indices.clear();
  diagonal_.clear();
  for (int i = 0; i < a.rows; ++i) {
    std::vector<int> row(l.indices.begin() + l.starts[i], l.indices.begin() + l.starts[i + 1]);
    row.insert(row.end(), u.indices.begin() + u.starts[i], u.indices.begin() + u.starts[i + 1]);
    row.push_back(i);
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    const auto before = std::lower_bound(row.begin(), row.end(), i) - row.begin();
    diagonal_.push_back(factors_.starts.back() + static_cast<int>(before));
    factors_.indices.insert(factors_.indices.end(), row.begin(), row.end());
    factors_.starts.push_back(static_cast<int>(factors_.indices.size()));
  }
  factors_.values.assign(factors_.indices.size(), 0);
  return place(std::move(p), std::move(q));
}

bool Refactorization::place(std::vector<int> p, std::vector<int> q) {
  const std::vector<int> row_of = inverse_of(p), column_of = inverse_of(q);
  places_.assign(a_.indices.size(), 0);
  for (int i = 0; i < a_.rows; ++i) {
    const int row = row_of[i];
    const auto begin = factors_.indices.begin() + factors_.starts[row];
    const auto end = factors_.indices.begin() + factors_.starts[row + 1];
    for (int k = a_.starts[i]; k < a_.starts[i + 1]; ++k) {
      const int column = column_of[a_.indices[k]];
      const auto found = std::lower_bound(begin, end, column);
      if (found == end || *found != column) return false;
      places_[k] = static_cast<int>(found - factors_.indices.begin());
    }
  }
  p_ = std::move(p);
  q_ = std::move(q);
  return true;
}

void Refactorization::reset(const std::vector<double>& values, std::vector<int> p,
                            std::vector<int> q) {
  values_ = values;
  if (p != p_ || q != q_) place(std::move(p), std::move(q));
}

int Refactorization::factorize(double zero, double boost) {
  std::fill(factors_.values.begin(), factors_.values.end(), 0.0);
  for (size_t k = 0; k < places_.size(); ++k) factors_.values[places_[k]] += values_[k];
  is_boosted_ = false;
  int wrong = -1;
  std::vector<int> place_of(static_cast<size_t>(factors_.rows), -1);
  for (int i = 0; i < factors_.rows; ++i) {
    const int begin = factors_.starts[i], end = factors_.starts[i + 1];
    for (int k = begin; k < end; ++k) place_of[factors_.indices[k]] = k;
    for (int k = begin; k < diagonal_[i]; ++k) {
      const int j = factors_.indices[k];
      const double factor = factors_.values[k] /= factors_.values[diagonal_[j]];
      for (int other = diagonal_[j] + 1; other < factors_.starts[j + 1]; ++other) {
        const int place = place_of[factors_.indices[other]];
        if (place >= 0) factors_.values[place] -= factor * factors_.values[other];
      }
    }
    double& pivot = factors_.values[diagonal_[i]];
    if (std::abs(pivot) < zero && boost != 0) {
      pivot = pivot < 0 ? -boost : boost;
      is_boosted_ = true;
    }
    if (pivot == 0 && wrong < 0) wrong = i;
    for (int k = begin; k < end; ++k) place_of[factors_.indices[k]] = -1;
  }
  return wrong;
}

void Refactorization::solve(const std::vector<int>& p, const std::vector<int>& q, double* x) const {
  const int n = factors_.rows;
  std::vector<double> y(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) {
    y[i] = x[p[i]];
    for (int k = factors_.starts[i]; k < diagonal_[i]; ++k) {
      y[i] -= factors_.values[k] * y[factors_.indices[k]];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = diagonal_[i] + 1; k < factors_.starts[i + 1]; ++k) {
      y[i] -= factors_.values[k] * y[factors_.indices[k]];
    }
    y[i] /= factors_.values[diagonal_[i]];
  }
  for (int i = 0; i < n; ++i) x[q[i]] = y[i];
}

}  // namespace km::cusolver
