// Copies of matrices for LAPACK. It reads beyond the ends of arrays, which is an illegal address
// in the program's memory (Scratch), and a wrong pointer of a batch ends the work at the copy,
// outside LAPACK, whose buffers would be lost otherwise.
#pragma once

#include <cstring>

#include "dropin/cusolver/lapack/lapack.h"

namespace km::cusolver {

/// Copies a contiguous matrix to the program's memory.
template <class T>
void write_matrix(const T* from, int64_t rows, int64_t columns, T* to, int64_t leading) {
  for (int64_t j = 0; j < columns && rows > 0; ++j) {
    std::memcpy(to + j * leading, from + j * rows, sizeof(T) * static_cast<size_t>(rows));
  }
}

/// A contiguous copy of a matrix.
template <class T>
class MatrixCopy {
 public:
  MatrixCopy(const T* from, int64_t rows, int64_t columns, int64_t leading)
      : rows_(rows),
        columns_(columns),
        copy_(static_cast<size_t>(std::max<int64_t>(rows * columns, 0))) {
    for (int64_t j = 0; j < columns && rows > 0; ++j) {
      std::memcpy(copy_ + j * rows, from + j * leading, sizeof(T) * static_cast<size_t>(rows));
    }
  }
  T* data() const { return copy_; }
  int leading() const { return static_cast<int>(std::max<int64_t>(rows_, 1)); }
  /// Copies the matrix to the program's memory.
  void write(T* to, int64_t leading) const {
    write_matrix(copy_.get(), rows_, columns_, to, leading);
  }

 private:
  int64_t rows_, columns_;
  Scratch<T> copy_;
};

/// Runs `routine`, a function of (T*, leading dimension), on a copy of a matrix of the program's,
/// which then gets the result.
template <class T, class Function>
void on_copy(T* a, int64_t rows, int64_t columns, int64_t leading, Function&& routine) {
  const MatrixCopy<T> copy(a, rows, columns, leading);
  routine(copy.data(), copy.leading());
  copy.write(a, leading);
}

}  // namespace km::cusolver
