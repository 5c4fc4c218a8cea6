// The passes of a transform over its dimensions, and the arrays between them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "math/fft/transform.h"

namespace km::fft {

/// An array: where it begins, and the distances of its dimensions, batch first.
struct Place {
  char* base = nullptr;
  Storage storage = Storage::kFloat;
  bool is_complex = true;
  std::vector<int64_t> strides;
};

/// The passes of one transform. Between them numbers lie in the output where that is possible,
/// otherwise in a temporary array; an input that overlaps its output otherwise than line by line is
/// copied first.
template <class T>
class Places {
 public:
  explicit Places(const TransformShape& shape);
  /// Makes the plans of all lines, without their tables.
  void make_plans(uint64_t lanes);
  /// Makes the tables of all plans, once.
  void prepare() const;
  /// The jobs of the passes for these arrays. `memory` has temporary_bytes().
  std::vector<LineJob<T>> bind(const Binding& binding, char* memory) const;
  uint64_t temporary_bytes(const Binding& binding) const;
  /// For arrays that do not overlap.
  uint64_t temporary_bytes() const { return needs_temporary_ ? temporary_numbers() : 0; }

 private:
  /// One dimension and its lines.
  struct Pass {
    size_t dimension;  // in extents_
    LineJob<T> job;    // without arrays
  };
  bool is_native(Storage storage) const {
    return storage == (sizeof(T) == sizeof(float) ? Storage::kFloat : Storage::kDouble);
  }
  bool is_complex_kind() const { return shape_.kind == TransformKind::kComplex; }
  uint64_t temporary_numbers() const;
  Place place_of(char* base, bool is_input) const;
  Place contiguous(char* base, bool is_complex) const;
  bool overlaps(const Binding& binding) const;
  bool is_in_place(const Binding& binding) const;
  Side side_of(const Place& place, const Pass& pass) const;
  LineJob<T> copy_job(const Place& from, const Place& to) const;
  uint64_t extent(size_t dimension, bool is_complex) const;

  TransformShape shape_;
  std::vector<Axis> dimensions_;  // batch, then axes
  std::vector<Pass> passes_;      // in the order in which they run
  // n / 2 + 1 roots of a real line of even length, which are made by prepare()
  std::shared_ptr<std::vector<Complex<T>>> real_roots_;
  mutable std::once_flag prepared_;
  Extent in_extent_, out_extent_;
  bool needs_temporary_ = false;
};

extern template class Places<float>;
extern template class Places<double>;

}  // namespace km::fft
