// Iteration over the elements of several tensors at once, in rows.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "dropin/cudnn/engine/view.h"

namespace km::cudnn {

/// The most elements of a row that are handled at once.
constexpr int64_t kRow = 512;

/// The elements of N tensors with common extents; broadcast ones have strides of 0. Dimensions are
/// ordered by the strides of the first tensor, and merged if all tensors allow it.
template <size_t N>
class Space {
 public:
  /// Tensors with an extent of 1 are repeated along a dimension that is longer in `extents`.
  /// Returns false if a tensor has another extent.
  bool init(const Shape& extents, const std::array<const Shape*, N>& tensors) noexcept;

  int64_t chunks() const noexcept { return rows_ * chunks_of_row_; }
  int64_t count() const noexcept { return rows_ * dims_[0]; }
  /// The offset of a chunk in each tensor; returns its length.
  int64_t chunk(int64_t index, std::array<int64_t, N>* offsets) const noexcept;
  /// The distance in tensor `i` between the elements of a chunk.
  int64_t step(size_t i) const noexcept { return strides_[i][0]; }

 private:
  void sort() noexcept;
  void merge() noexcept;

  int rank_ = 0;  // dimension 0 is the innermost one
  Extents dims_{};
  std::array<Extents, N> strides_{};
  int64_t rows_ = 0, chunks_of_row_ = 0;
};

template <size_t N>
bool Space<N>::init(const Shape& extents, const std::array<const Shape*, N>& tensors) noexcept {
  rank_ = 0;
  for (int i = extents.rank - 1; i >= 0; --i) {
    if (extents.dims[i] == 1) continue;
    dims_[rank_++] = extents.dims[i];
  }
  for (size_t t = 0; t < N; ++t) {
    const Shape shape = with_rank(*tensors[t], extents.rank);
    if (shape.rank != extents.rank) return false;
    int at = 0;
    for (int i = extents.rank - 1; i >= 0; --i) {
      if (shape.dims[i] != 1 && shape.dims[i] != extents.dims[i]) return false;
      if (extents.dims[i] == 1) continue;
      strides_[t][at++] = shape.dims[i] == 1 ? 0 : shape.strides[i];
    }
  }
  sort();
  merge();
  if (rank_ == 0) {
    rank_ = 1;
    dims_[0] = 1;
    for (auto& each : strides_) each[0] = 1;
  }
  rows_ = 1;
  for (int i = 1; i < rank_; ++i) rows_ *= dims_[i];
  chunks_of_row_ = (dims_[0] + kRow - 1) / kRow;
  return true;
}

template <size_t N>
void Space<N>::sort() noexcept {
  const auto key = [&](int i) {
    for (const Extents& each : strides_) {
      if (each[i] != 0) return each[i];
    }
    return int64_t{0};
  };
  for (int i = 1; i < rank_; ++i) {
    for (int j = i; j > 0 && key(j) < key(j - 1); --j) {
      std::swap(dims_[j], dims_[j - 1]);
      for (Extents& each : strides_) std::swap(each[j], each[j - 1]);
    }
  }
}

template <size_t N>
void Space<N>::merge() noexcept {
  int last = 0;
  for (int i = 1; i < rank_; ++i) {
    const bool fits = std::all_of(strides_.begin(), strides_.end(), [&](const Extents& each) {
      return each[i] == each[last] * dims_[last];
    });
    if (fits) {
      dims_[last] *= dims_[i];
      continue;
    }
    ++last;
    dims_[last] = dims_[i];
    for (Extents& each : strides_) each[last] = each[i];
  }
  rank_ = std::min(rank_, last + 1);
}

template <size_t N>
int64_t Space<N>::chunk(int64_t index, std::array<int64_t, N>* offsets) const noexcept {
  int64_t row = index / chunks_of_row_;
  const int64_t start = index % chunks_of_row_ * kRow;
  for (size_t t = 0; t < N; ++t) (*offsets)[t] = start * strides_[t][0];
  for (int i = 1; i < rank_; ++i) {
    const int64_t at = row % dims_[i];
    row /= dims_[i];
    for (size_t t = 0; t < N; ++t) (*offsets)[t] += at * strides_[t][i];
  }
  return std::min(kRow, dims_[0] - start);
}

/// The part of `count` things that piece `piece` of `pieces` does.
struct Part {
  Part(int64_t count, uint64_t piece, uint64_t pieces) noexcept
      : begin(count * static_cast<int64_t>(piece) / static_cast<int64_t>(pieces)),
        end(count * static_cast<int64_t>(piece + 1) / static_cast<int64_t>(pieces)) {}
  int64_t begin, end;
};

}  // namespace km::cudnn
