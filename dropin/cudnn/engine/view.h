// Tensors as the engine sees them: a type, extents and strides at an address.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "dropin/cudnn/generated/api.h"

namespace km::cudnn {

constexpr int kMostDims = 8;  // CUDNN_DIM_MAX
using Extents = std::array<int64_t, kMostDims>;

/// The type and layout of a tensor. Strides count elements.
struct Shape {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int32_t rank = 0;
  Extents dims{};
  Extents strides{};
  /// Channels that lie side by side, as CUDNN_TENSOR_NCHW_VECT_C has them; 1: none do.
  int64_t vector = 1;

  /// The distance from channel 0 to channel `c`.
  int64_t channel_offset(int64_t c) const noexcept {
    return vector == 1 ? c * strides[1] : c / vector * strides[1] + c % vector;
  }
  int64_t count() const noexcept;
  /// The number of elements from the first to the last one in memory.
  int64_t span() const noexcept;
  /// The bytes from the first element to the last one.
  int64_t span_bytes() const noexcept;
  bool has_dims(const Shape& other) const noexcept;
};

/// A tensor at an address of device memory.
struct View : Shape {
  View() = default;
  View(const Shape& shape, const void* at)
      : Shape(shape), data(static_cast<char*>(const_cast<void*>(at))) {}
  char* data = nullptr;
  /// Keeps memory of the host alive that the view is of; null for device memory.
  std::shared_ptr<const void> owner;
};

/// Bits of an element; 0 if the engine does not have the type.
int type_bits(cudnnDataType_t type) noexcept;
inline int64_t type_bytes(cudnnDataType_t type) noexcept { return (type_bits(type) + 7) / 8; }
/// True for types whose values only f64 can hold exactly.
constexpr bool needs_double(cudnnDataType_t type) noexcept {
  return type == CUDNN_DATA_DOUBLE || type == CUDNN_DATA_INT32 || type == CUDNN_DATA_INT64 ||
         type == CUDNN_DATA_UINT32;
}

/// A dense tensor whose last dimension has stride 1.
Shape dense_shape(cudnnDataType_t type, int rank, const int64_t* dims) noexcept;
/// A copy of the shape with at least `rank` dimensions: further ones, of extent 1, come first.
Shape with_rank(const Shape& shape, int rank) noexcept;

/// Reads `count` elements, `stride` apart, the first of which is element `offset` of the memory.
template <class T>
void read_row(const View& view, int64_t offset, int64_t stride, int64_t count, T* out) noexcept;
/// Writes elements with one rounding; integers are rounded to even and saturated.
template <class T>
void write_row(const View& view, int64_t offset, int64_t stride, int64_t count,
               const T* values) noexcept;

inline double read_one(const View& view, int64_t offset) noexcept {
  double value = 0;
  read_row(view, offset, 1, 1, &value);
  return value;
}
inline void write_one(const View& view, int64_t offset, double value) noexcept {
  write_row(view, offset, 1, 1, &value);
}

}  // namespace km::cudnn
