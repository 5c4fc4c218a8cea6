// Vectors of channels (CUDNN_TENSOR_NCHW_VECT_C), and the order that cudnnReorderFilterAndBias
// brings filters and biases into.
#pragma once

#include <initializer_list>

#include "dropin/cudnn/engine/view.h"

namespace km::cudnn {

/// Channels in an element of a type: 4, 32, or 1 for types without vectors.
constexpr int64_t vector_of(cudnnDataType_t type) noexcept {
  if (type == CUDNN_DATA_INT8x32) return 32;
  return type == CUDNN_DATA_INT8x4 || type == CUDNN_DATA_UINT8x4 ? 4 : 1;
}
/// The inverse of vector_of(): the type that programs name for elements of a shape.
constexpr cudnnDataType_t named_type(const Shape& shape) noexcept {
  if (shape.vector == 1) return shape.type;
  if (shape.type == CUDNN_DATA_UINT8) return CUDNN_DATA_UINT8x4;
  return shape.vector == 4 ? CUDNN_DATA_INT8x4 : CUDNN_DATA_INT8x32;
}

/// Gives all tensors plain strides: if one of them has vectors, the channels of each become several
/// dimensions. Returns the number of dimensions that are added behind the channels.
int split_channels(std::initializer_list<Shape*> shapes) noexcept;

/// Outputs of a filter that cudnnReorderFilterAndBias handles as a group.
constexpr int64_t kReorderGroup = 32;
/// The place of an element in a reordered filter of INT8x32: its order is C / 32, taps, K / 8, 2
/// outputs, 8 fours of channels, 4 outputs, 4 channels.
constexpr int64_t reordered_filter_place(const Shape& w, int64_t taps, int64_t k, int64_t c,
                                         int64_t tap) noexcept {
  int64_t at = (c / 32 * taps + tap) * (w.dims[0] / 8) + k / 8;
  at = at * 2 + k % 2;
  at = at * 8 + c % 32 / 4;
  at = at * 4 + k % 8 / 2;
  return at * 4 + c % 4;
}
/// The place of an output's bias beside a reordered filter.
constexpr int64_t reordered_bias_place(int64_t k) noexcept {
  const int64_t in_group = k % kReorderGroup;
  return k - in_group + in_group / 4 % 2 * 16 + in_group / 8 * 4 + in_group % 4;
}

}  // namespace km::cudnn
