// QR factorizations of sparse matrices, by Eigen.
#pragma once

#include <Eigen/SparseQR>
#include <memory>

#include "dropin/cusolver/sparse/csr.h"

namespace km::cusolver {

/// A P = Q R, where columns that depend on others come last.
template <class T>
class SparseQr {
 public:
  using Matrix = Eigen::SparseMatrix<T, Eigen::ColMajor, int>;
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

  /// Columns whose norm is at most `threshold` count as dependent; below zero: by rounding errors.
  SparseQr(const Csr<T>& a, double threshold) : rows_(a.rows), columns_(a.columns) {
    if (columns_ == 0 || rows_ == 0) return;
    std::vector<Eigen::Triplet<T>> elements;
    elements.reserve(a.values.size());
    for (int i = 0; i < a.rows; ++i) {
      for (int k = a.starts[i]; k < a.starts[i + 1]; ++k) {
        elements.emplace_back(i, a.indices[k], a.values[k]);
      }
    }
    Matrix matrix(a.rows, a.columns);
    matrix.setFromTriplets(elements.begin(), elements.end());
    matrix.makeCompressed();
    qr_ = std::make_unique<Solver>();
    if (threshold >= 0) qr_->setPivotThreshold(static_cast<Real<T>>(threshold));
    qr_->compute(matrix);
  }

  int rank() const { return qr_ == nullptr ? 0 : static_cast<int>(qr_->rank()); }

  /// The first column of R whose diagonal element is at most `tolerance`; -1: there is none.
  int find_dependent(double tolerance) const {
    const Matrix r = qr_ == nullptr ? Matrix(columns_, columns_) : Matrix(qr_->matrixR());
    for (int j = 0; j < columns_; ++j) {
      const double size =
          j < rows_ && qr_ != nullptr ? std::abs(std::complex<double>(r.coeff(j, j))) : 0;
      if (j >= rank() || !(size > tolerance)) return j;
    }
    return -1;
  }

  /// The solution with the least squares of the rest.
  std::vector<T> solve(const std::vector<T>& b) const {
    std::vector<T> x(static_cast<size_t>(columns_));
    if (qr_ == nullptr) return x;
    const Vector right = Eigen::Map<const Vector>(b.data(), rows_);
    const Vector found = qr_->solve(right);
    std::copy_n(found.data(), columns_, x.begin());
    return x;
  }

  /// Column j of R belongs to column order()[j] of A.
  std::vector<int> order() const {
    std::vector<int> p = identity_of(columns_);
    if (qr_ == nullptr) return p;
    const auto& indices = qr_->colsPermutation().indices();
    std::copy_n(indices.data(), columns_, p.begin());
    return p;
  }

 private:
  using Solver = Eigen::SparseQR<Matrix, Eigen::COLAMDOrdering<int>>;
  int rows_, columns_;
  std::unique_ptr<Solver> qr_;
};

}  // namespace km::cusolver
