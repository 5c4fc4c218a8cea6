#include "dropin/cusparse/legacy/band.h"

#include <algorithm>
#include <vector>

namespace km::cusparse {
namespace {

/// One system's matrix, row by row: the elements right of `width` lower ones, with room for what
/// exchanges of rows fill in.
template <class C>
class BandMatrix {
 public:
  BandMatrix(const BandSystems& s, int64_t system)
      : size_(s.size),
        width_(s.is_five ? 2 : 1),
        pivots_(s.pivots),
        elements_(static_cast<size_t>(size_ * row_size()), C(0)) {
    for (int64_t row = 0; row < size_; ++row) {
      for (int64_t d = -width_; d <= width_; ++d) {
        if (row + d < 0 || row + d >= size_) continue;
        at(row, row + d) =
            read_element<C>(s.diagonals[d + width_], row * s.step + system * s.stride);
      }
    }
  }

  /// Solves for one right-hand side by elimination, which changes the matrix.
  void solve(std::vector<C>& x) {
    for (int64_t col = 0; col < size_; ++col) eliminate(col, x);
    for (int64_t row = size_ - 1; row >= 0; --row) {
      C sum = x[static_cast<size_t>(row)];
      for (int64_t col = row + 1; col <= last_col(row); ++col) {
        sum -= at(row, col) * x[static_cast<size_t>(col)];
      }
      x[static_cast<size_t>(row)] = sum / at(row, row);
    }
  }

 private:
  int64_t row_size() const { return 3 * width_ + 1; }
  int64_t last_col(int64_t row) const { return std::min(row + 2 * width_, size_ - 1); }
  C& at(int64_t row, int64_t col) {
    return elements_[static_cast<size_t>(row * row_size() + col - row + width_)];
  }

  void exchange(int64_t a, int64_t b, int64_t col, std::vector<C>& x) {
    // `a` is above `b`, and has elements up to last_col(a) only.
    for (int64_t c = col; c <= last_col(a); ++c) std::swap(at(a, c), at(b, c));
    std::swap(x[static_cast<size_t>(a)], x[static_cast<size_t>(b)]);
  }

  void eliminate(int64_t col, std::vector<C>& x) {
    const int64_t end = std::min(col + width_, size_ - 1);
    int64_t best = col;
    for (int64_t row = col + 1; pivots_ && row <= end; ++row) {
      if (magnitude(at(row, col)) > magnitude(at(best, col))) best = row;
    }
    if (best != col) exchange(col, best, col, x);
    for (int64_t row = col + 1; row <= end; ++row) {
      if (at(row, col) == C(0)) continue;
      const C factor = at(row, col) / at(col, col);
      for (int64_t c = col + 1; c <= last_col(col); ++c) at(row, c) -= factor * at(col, c);
      x[static_cast<size_t>(row)] -= factor * x[static_cast<size_t>(col)];
    }
  }

  const int64_t size_, width_;
  const bool pivots_;
  std::vector<C> elements_;
};

template <class C>
void solve_one(const BandSystems& s, int64_t system) {
  BandMatrix<C> matrix(s, system);
  std::vector<C> x(static_cast<size_t>(s.size));
  for (int64_t i = 0; i < s.size; ++i) {
    x[static_cast<size_t>(i)] = read_element<C>(s.x, i * s.x_step + system * s.x_stride);
  }
  matrix.solve(x);
  for (int64_t i = 0; i < s.size; ++i) {
    write_element<C>(s.x, i * s.x_step + system * s.x_stride, x[static_cast<size_t>(i)]);
  }
}

}  // namespace

cusparseStatus_t solve_band(const Handle& handle, const char* name, const BandSystems& s) {
  if (s.size == 0 || s.count == 0) return CUSPARSE_STATUS_SUCCESS;
  Arrays arrays;
  for (int i = 0; i < (s.is_five ? 5 : 3); ++i) {
    arrays.read("a diagonal", s.diagonals[i], s.extent, bytes_of(s.type));
  }
  arrays.written("the right-hand sides", s.x, s.x_extent, bytes_of(s.type));
  const auto steps = static_cast<uint64_t>(s.size) * static_cast<uint64_t>(s.count) * 20;
  const uint64_t pieces =
      std::min(pieces_of(static_cast<int64_t>(steps)), static_cast<uint64_t>(s.count));
  return submit(handle, arrays, name, pieces, steps, [s, pieces](uint64_t piece) {
    return with_compute(s.type, cu::CUresult{cu::CUDA_ERROR_NOT_SUPPORTED}, [&](auto tag) {
      const int64_t last = first_of_piece(s.count, piece + 1, pieces);
      for (int64_t i = first_of_piece(s.count, piece, pieces); i < last; ++i) {
        solve_one<typename decltype(tag)::Type>(s, i);
      }
      return cu::CUresult{cu::CUDA_SUCCESS};
    });
  });
}

}  // namespace km::cusparse
