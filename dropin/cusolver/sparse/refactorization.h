// Repeated LU factorizations of matrices that differ in their values only.
#pragma once

#include "dropin/cusolver/sparse/csr.h"

namespace km::cusolver {

/// P A Q^T = L U by rows, both factors in one matrix without L's diagonal of ones. The pattern is
/// that of the factors a program has set up.
class Refactorization {
 public:
  /// Joins the factors' patterns. Returns false if they do not contain that of A, permuted.
  bool set_up(const Csr<double>& a, const Pattern& l, const Pattern& u, std::vector<int> p,
              std::vector<int> q);
  /// Takes new values of A, in the order of its elements at set_up().
  void reset(const std::vector<double>& values, std::vector<int> p, std::vector<int> q);
  /// Takes other permutations. Returns false as set_up().
  bool place(std::vector<int> p, std::vector<int> q);

  /// Factorizes the current values. A pivot below `zero` becomes `boost`. Returns the first row
  /// with a zero pivot, or -1.
  int factorize(double zero, double boost);
  /// Solves in place; `p` and `q` are permutations.
  void solve(const std::vector<int>& p, const std::vector<int>& q, double* x) const;

  int rows() const { return factors_.rows; }
  int count() const { return static_cast<int>(places_.size()); }
  const Pattern& matrix() const { return a_; }
  const Csr<double>& factors() const { return factors_; }
  bool is_boosted() const { return is_boosted_; }

 private:
  Pattern a_;
  Csr<double> factors_;
  std::vector<int> diagonal_;   // the place of each row's diagonal element
  std::vector<int> places_;     // of A's elements in the factors
  std::vector<double> values_;  // of A
  std::vector<int> p_, q_;
  bool is_boosted_ = false;
};

}  // namespace km::cusolver
