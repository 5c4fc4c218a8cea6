// The content of a tensor map: 128 bytes that cuTensorMapEncode* makes, tensormap.replace changes
// and cp.async.bulk.tensor reads. CUDA leaves it open. Whoever reads one checks it first: programs
// can put anything into its place.
#pragma once

#include <cstdint>

namespace km {

/// The numbers are those of tensormap.replace's .elemtype (PTX ISA).
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

/// The numbers of these three are those of the CUDA driver and of tensormap.replace.
enum class TensorInterleave : uint8_t { none, bytes_16, bytes_32 };
enum class TensorSwizzle : uint8_t { none, bytes_32, bytes_64, bytes_128 };
enum class TensorFill : uint8_t { zeros, nans };

enum class TensorMode : uint8_t { tiled, im2col };

constexpr uint32_t kMostTensorDimensions = 5;
constexpr uint32_t kMostPixelDimensions = 3;  // width, height, depth

/// Dimension 0 is the innermost one, whose elements lie side by side.
struct alignas(64) TensorMap {
  static constexpr uint32_t kMark = 0x4b6d546d;

  uint64_t address;
  uint64_t strides_bytes[kMostTensorDimensions - 1];  // of dimensions 1 on
  uint64_t sizes[kMostTensorDimensions];              // elements
  uint32_t mark;                                      // kMark; 0 before anything was written
  uint16_t box[kMostTensorDimensions];                // tiled: elements of a copy
  uint8_t steps[kMostTensorDimensions];               // from one element of a copy to the next
  uint8_t last_dimension;                             // the rank less one
  // Stored as numbers, which may be none of the enumerations'.
  uint8_t element, interleave, swizzle, swizzle_atomicity, fill, mode;
  // im2col: where boxes may begin, relative to the first and the last pixel.
  int16_t lower_corner[kMostPixelDimensions], upper_corner[kMostPixelDimensions];
  uint16_t channels, pixels;  // of a copy

  uint32_t rank() const { return last_dimension + 1U; }
  TensorElement element_type() const { return static_cast<TensorElement>(element); }
  uint32_t element_bytes() const { return bytes_of(element_type()); }
  /// Elements of a copy along a dimension of a tiled map.
  uint32_t box_count(uint32_t dimension) const;
  /// The bytes of a copy's innermost row.
  uint64_t row_bytes() const;
  /// The bytes that a copy writes to shared memory, or reads there.
  uint64_t box_bytes() const;
  /// The bytes within which 16-byte pieces change places; 16: none do.
  uint32_t swizzle_bytes() const;
};
static_assert(sizeof(TensorMap) == 128);

/// Why a tensor map cannot be used.
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
  uint64_t value = 0;  // that is wrong
};
/// The first thing that is wrong, as the CUDA driver's documentation of cuTensorMapEncodeTiled and
/// cuTensorMapEncodeIm2col has the rules.
TensorMapCheck check(const TensorMap& map);
/// A text that names the problem and what is expected, as the end of a sentence.
const char* text_of(TensorMapProblem problem);

}  // namespace km
