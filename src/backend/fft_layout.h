// The places of the elements of transforms.
#pragma once

#include <cstdint>

#include "backend/interface.h"

namespace km {

constexpr uint32_t kMostFftRank = 3;

inline const km_fft_layout& fft_layout(const km_fft_shape& shape, bool is_input) {
  return is_input ? shape.input : shape.output;
}

/// True if the side has real numbers.
inline bool fft_is_real(const km_fft_shape& shape, bool is_input) {
  return shape.kind == (is_input ? KM_FFT_KIND_REAL_TO_COMPLEX : KM_FFT_KIND_COMPLEX_TO_REAL);
}

/// The size of one number of the type, or of a part of a complex one.
inline uint32_t fft_real_size(const km_fft_shape& shape) {
  if (shape.type == KM_DATA_TYPE_F64) return 8;
  return shape.type == KM_DATA_TYPE_F32 ? 4 : 2;
}
inline uint32_t fft_element_size(const km_fft_shape& shape, bool is_input) {
  return fft_real_size(shape) * (fft_is_real(shape, is_input) ? 1 : 2);
}

/// The elements of a dimension: the last one of the complex side of a real transform is halved.
inline uint64_t fft_length(const km_fft_shape& shape, bool is_input, uint32_t dimension) {
  const uint64_t size = shape.sizes[dimension];
  const bool is_halved = shape.kind != KM_FFT_KIND_COMPLEX && !fft_is_real(shape, is_input) &&
                         dimension + 1 == shape.rank;
  return is_halved ? size / 2 + 1 : size;
}

/// The distances of neighbours in each dimension, in elements, of a complete layout.
struct FftStrides {
  uint64_t of[kMostFftRank] = {};
};
inline FftStrides fft_strides(const km_fft_shape& shape, bool is_input) {
  const km_fft_layout& layout = fft_layout(shape, is_input);
  FftStrides strides;
  uint64_t stride = layout.stride;
  for (uint32_t i = shape.rank; i-- > 0;) {
    strides.of[i] = stride;
    stride *= layout.extents[i];
  }
  return strides;
}

/// The elements from the first one of a transform to behind its last.
inline uint64_t fft_span(const km_fft_shape& shape, bool is_input) {
  const FftStrides strides = fft_strides(shape, is_input);
  uint64_t span = 1;
  for (uint32_t i = 0; i < shape.rank; ++i) {
    span += (fft_length(shape, is_input, i) - 1) * strides.of[i];
  }
  return span;
}

/// True if both sides have their elements at the same bytes, line by line, so that a transform in
/// place needs no other memory: lines of inputs may overlap each other otherwise.
inline bool fft_sides_match(const km_fft_shape& shape) {
  const FftStrides in = fft_strides(shape, true), out = fft_strides(shape, false);
  const uint64_t in_bytes = fft_element_size(shape, true);
  const uint64_t out_bytes = fft_element_size(shape, false);
  const uint64_t line =
      shape.kind == KM_FFT_KIND_COMPLEX_TO_REAL ? fft_length(shape, true, shape.rank - 1) : 1;
  const auto matches = [&](uint64_t in_step, uint64_t out_step) {
    return in_step * in_bytes == out_step * out_bytes && in_step >= line;
  };
  for (uint32_t i = 0; i < shape.rank; ++i) {
    const bool is_line = i + 1 == shape.rank && shape.kind != KM_FFT_KIND_COMPLEX;
    if (shape.sizes[i] == 1) continue;
    if (is_line ? in.of[i] != 1 || out.of[i] != 1 : !matches(in.of[i], out.of[i])) return false;
  }
  return shape.batch_count == 1 || matches(shape.input.distance, shape.output.distance);
}

}  // namespace km
