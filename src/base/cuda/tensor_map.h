// The content of a tensor map: 128 bytes that cuTensorMapEncode* makes, tensormap.replace changes
// and cp.async.bulk.tensor reads. CUDA does not document the layout, so this one is our own. Every
// reader checks it first, because programs can overwrite it with anything.
#pragma once

#include <cstdint>

namespace km {

/// The values are those of tensormap.replace's .elemtype (PTX ISA).
enum class TensorElement : uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f32_ftz,
  f64,
  bf16,
  tf32,
  tf32_ftz,
};
constexpr uint32_t kTensorElements = 13;
uint32_t bytes_of(TensorElement element);
constexpr bool is_float(TensorElement element) { return element >= TensorElement::f16; }

/// The values of these three enumerations are those of the CUDA driver and of tensormap.replace.
enum class TensorInterleave : uint8_t { none, bytes_16, bytes_32 };
enum class TensorSwizzle : uint8_t { none, bytes_32, bytes_64, bytes_128 };
enum class TensorFill : uint8_t { zeros, nans };

enum class TensorMode : uint8_t { tiled, im2col };

constexpr uint32_t kMostTensorDimensions = 5;
constexpr uint32_t kMostPixelDimensions = 3;  // width, height, depth

/// Dimension 0 is the innermost one, whose elements are contiguous.
struct alignas(64) TensorMap {
  static constexpr uint32_t kMark = 0x4b6d546d;

  uint64_t address;
  uint64_t strides_bytes[kMostTensorDimensions - 1];  // strides of dimensions 1 and up
  uint64_t sizes[kMostTensorDimensions];              // number of elements
  uint32_t mark;                                      // kMark once the map is encoded
  uint16_t box[kMostTensorDimensions];                // tiled: elements of a copy per dimension
  uint8_t steps[kMostTensorDimensions];               // distance of a copy's elements, in elements
  uint8_t last_dimension;                             // rank - 1
  // They are plain numbers because a program can store values that no enumerator has.
  uint8_t element, interleave, swizzle, swizzle_atomicity, fill, mode;
  // im2col: the range of box positions, relative to the first and the last pixel.
  int16_t lower_corner[kMostPixelDimensions], upper_corner[kMostPixelDimensions];
  uint16_t channels, pixels;  // per copy

  uint32_t rank() const { return last_dimension + 1U; }
  TensorElement element_type() const { return static_cast<TensorElement>(element); }
  uint32_t element_bytes() const { return bytes_of(element_type()); }
  /// The number of elements that a copy of a tiled map has along a dimension.
  uint32_t box_count(uint32_t dimension) const;
  /// The size of a copy's innermost row.
  uint64_t row_bytes() const;
  /// The size of a copy in shared memory.
  uint64_t box_bytes() const;
  /// The span within which the swizzle permutes 16-byte pieces; 16: no swizzle.
  uint32_t swizzle_bytes() const;
};
static_assert(sizeof(TensorMap) == 128);

/// The reason why a tensor map cannot be used.
enum class TensorMapProblem : uint8_t {
  none,
  no_map,
  rank,
  element,
  interleave,
  swizzle,
  swizzle_atomicity,
  fill,
  fill_of_integers,
  mode,
  address,
  size,
  stride,
  box,
  box_row,
  box_swizzle,
  step,
  interleave_rank,
  interleave_swizzle,
  corner,
  channels,
  pixels,
  box_bytes,
};
struct TensorMapCheck {
  TensorMapProblem problem = TensorMapProblem::none;
  uint64_t value = 0;  // the wrong value
};
/// The first violation of the rules in the CUDA driver's documentation of cuTensorMapEncodeTiled
/// and cuTensorMapEncodeIm2col.
TensorMapCheck check(const TensorMap& map);
/// The end of a sentence that names the problem and the expected value.
const char* text_of(TensorMapProblem problem);

}  // namespace km
