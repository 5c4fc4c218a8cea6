// Groups of elements that share a value, as a mean: the positions of a tensor whose coordinates
// agree in the dimensions in which the shared tensor is longer than 1.
#pragma once

#include "dropin/cudnn/engine/space.h"

namespace km::cudnn {

/// The offset of a position in a tensor, which is repeated where its extent is 1.
inline int64_t offset_at(const Shape& shape, const Extents& at) noexcept {
  int64_t found = 0;
  for (int i = 0; i < shape.rank; ++i) found += shape.dims[i] == 1 ? 0 : at[i] * shape.strides[i];
  return found;
}

/// Groups with N tensors that are read or written for each element.
template <size_t N>
class Groups {
 public:
  /// `shared` has the extents 1 or those of `extents`. Returns false if extents do not fit.
  bool init(const Shape& extents, const Shape& shared, const std::array<const Shape*, N>& tensors) {
    outer_ = with_rank(shared, extents.rank);
    if (outer_.rank != extents.rank) return false;
    Shape inner = extents;
    std::array<Shape, N> parts;
    std::array<const Shape*, N> pointers;
    for (size_t t = 0; t < N; ++t) {
      parts[t] = with_rank(*tensors[t], extents.rank);
      if (parts[t].rank != extents.rank) return false;
      pointers[t] = &parts[t];
    }
    for (int i = 0; i < extents.rank; ++i) {
      if (outer_.dims[i] != 1 && outer_.dims[i] != extents.dims[i]) return false;
      for (Shape& part : parts) {
        if (part.dims[i] != 1 && part.dims[i] != extents.dims[i]) return false;
        if (outer_.dims[i] != 1) part.dims[i] = 1;
      }
      if (outer_.dims[i] != 1) inner.dims[i] = 1;
    }
    return space_.init(inner, pointers);
  }

  int64_t count() const noexcept { return outer_.count(); }
  /// The number of elements of a group.
  int64_t size() const noexcept { return space_.count(); }
  Extents position(int64_t index) const noexcept {
    Extents at{};
    for (int i = outer_.rank - 1; i >= 0; --i) {
      at[i] = index % outer_.dims[i];
      index /= outer_.dims[i];
    }
    return at;
  }
  /// Calls `row(count, offsets)` for the elements of a group, in rows of at most kRow; offsets are
  /// those within the tensors, from the group's first element.
  template <class Row>
  void rows(Row&& row) const {
    std::array<int64_t, N> at{};
    for (int64_t i = 0; i < space_.chunks(); ++i) {
      const int64_t count = space_.chunk(i, &at);
      row(count, at);
    }
  }
  int64_t step(size_t i) const noexcept { return space_.step(i); }

 private:
  Shape outer_;
  Space<N> space_;
};

}  // namespace km::cudnn
