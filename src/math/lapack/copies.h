// Copies of matrices for LAPACK. It reads beyond the ends of arrays, which is an illegal address
// in the program's memory (Scratch), and a wrong pointer of a batch ends the work at the copy,
// outside LAPACK, whose buffers would be lost otherwise.
#pragma once

#include <cstring>

#include "math/lapack/lapack.h"

namespace km::math {

/// Copies a contiguous matrix to the program's memory.
template <class T>
void write_matrix(const T* from, int64_t rows, int64_t columns, T* to, int64_t leading) {
  for (int64_t j = 0; j < columns && rows > 0; ++j) {
    std::memcpy(to + j * leading, from + j * rows, sizeof(T) * static_cast<size_t>(rows));
  }
}

/// Copies the transpose of a matrix of `lines` lines with `length` elements each; both leading
/// dimensions are those of lines in memory.
template <class T>
void copy_transposed(const T* from, int64_t lines, int64_t length, int64_t from_leading, T* to,
                     int64_t to_leading) {
  constexpr int64_t kTile = 16;  // a tile of both sides stays in the first cache
  for (int64_t i0 = 0; i0 < lines; i0 += kTile) {
    const int64_t i_end = std::min(i0 + kTile, lines);
    for (int64_t j0 = 0; j0 < length; j0 += kTile) {
      const int64_t j_end = std::min(j0 + kTile, length);
      for (int64_t i = i0; i < i_end; ++i) {
        for (int64_t j = j0; j < j_end; ++j) to[j * to_leading + i] = from[i * from_leading + j];
      }
    }
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

}  // namespace km::math
