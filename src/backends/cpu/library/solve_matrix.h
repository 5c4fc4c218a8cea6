// The arrays of a km_solve call as LAPACK takes them: by columns, in scratch memory.
#pragma once

#include <cstdint>

#include "backend/interface.h"
#include "math/lapack/copies.h"

namespace km::cpu {

/// One matrix of a batch, and a copy of it by columns.
template <class T>
class SolveMatrix {
 public:
  SolveMatrix(const kmb_solve_call& call, const kmb_blas_array& array, uint64_t item, uint64_t rows,
              uint64_t columns)
      : place_(reinterpret_cast<T*>(array.address) + item * array.stride),
        step_(array.step),
        is_by_rows_(call.layout == KM_BLAS_LAYOUT_ROWS),
        rows_(static_cast<int64_t>(rows)),
        columns_(static_cast<int64_t>(columns)),
        copy_(rows * columns) {}

  T* data() const { return copy_; }
  int leading() const { return static_cast<int>(std::max<int64_t>(rows_, 1)); }

  /// Fills the copy, which has no values before.
  const SolveMatrix& read() const {
    if (is_by_rows_) {
      math::copy_transposed(place_, rows_, columns_, step_, data(), leading());
    } else {
      copy_lines(place_, step_, data(), leading());
    }
    return *this;
  }
  /// Writes the copy to the matrix's place.
  void write() const {
    if (is_by_rows_) {
      math::copy_transposed(data(), columns_, rows_, leading(), place_, step_);
    } else {
      copy_lines(data(), leading(), place_, step_);
    }
  }

 private:
  void copy_lines(const T* from, int64_t from_leading, T* to, int64_t to_leading) const {
    for (int64_t j = 0; j < columns_ && rows_ > 0; ++j) {
      std::copy_n(from + j * from_leading, rows_, to + j * to_leading);
    }
  }

  T* const place_;
  const int64_t step_;
  const bool is_by_rows_;
  const int64_t rows_, columns_;
  math::Scratch<T> copy_;
};

}  // namespace km::cpu
