#include "base/cuda/tensor_map.h"

#include <algorithm>

namespace km {
namespace {

constexpr uint64_t kLine = 16;
constexpr uint64_t kMostSize = uint64_t{1} << 32, kMostStride = (uint64_t{1} << 40) - 1;
constexpr uint32_t kMostBox = 256, kMostStep = 8, kMostChannels = 256, kMostPixels = 1024;
constexpr uint64_t kMostBoxBytes = 256 << 10;  // the limit of a block's shared memory, rounded up

using Problem = TensorMapProblem;
using Result = TensorMapCheck;

Result check_numbers(const TensorMap& map) {
  if (map.mark != TensorMap::kMark) return {Problem::no_map, map.mark};
  if (map.rank() > kMostTensorDimensions) return {Problem::rank, map.rank()};
  if (map.element >= kTensorElements) return {Problem::element, map.element};
  if (map.interleave > 2) return {Problem::interleave, map.interleave};
  if (map.swizzle > 3) return {Problem::swizzle, map.swizzle};
  if (map.swizzle_atomicity != 0) return {Problem::swizzle_atomicity, map.swizzle_atomicity};
  if (map.fill > 1) return {Problem::fill, map.fill};
  if (map.fill == 1 && !is_float(map.element_type())) return {Problem::fill_of_integers, map.fill};
  if (map.mode > 1) return {Problem::mode, map.mode};
  return {};
}

Result check_tensor(const TensorMap& map) {
  const bool wide = map.interleave == static_cast<uint8_t>(TensorInterleave::bytes_32);
  const uint64_t unit = wide ? 2 * kLine : kLine;
  if (map.address % unit != 0) return {Problem::address, map.address};
  for (uint32_t i = 0; i < map.rank(); ++i) {
    if (map.sizes[i] == 0 || map.sizes[i] > kMostSize) return {Problem::size, map.sizes[i]};
    if (map.steps[i] == 0 || map.steps[i] > kMostStep) return {Problem::step, map.steps[i]};
    if (i == 0) continue;
    const uint64_t stride = map.strides_bytes[i - 1];
    if (stride % unit != 0 || stride > kMostStride) return {Problem::stride, stride};
  }
  if (map.interleave == 0) return {};
  if (map.rank() < 3) return {Problem::interleave_rank, map.rank()};
  const bool fits = !wide || map.swizzle == static_cast<uint8_t>(TensorSwizzle::bytes_32);
  return fits ? Result{} : Result{Problem::interleave_swizzle, map.swizzle};
}

Result check_pixels(const TensorMap& map) {
  constexpr uint32_t kFewestDimensions = 3;
  if (map.rank() < kFewestDimensions) return {Problem::rank, map.rank()};
  constexpr int32_t kCorners[] = {32768, 128, 16};  // by the number of spatial dimensions
  const uint32_t dimensions = map.rank() - 2;
  const int32_t most = kCorners[dimensions - 1];
  for (uint32_t i = 0; i < dimensions; ++i) {
    for (const int32_t corner : {map.lower_corner[i], map.upper_corner[i]}) {
      if (corner >= -most && corner < most) continue;
      return {Problem::corner, static_cast<uint64_t>(int64_t{corner})};
    }
  }
  if (map.channels == 0 || map.channels > kMostChannels) return {Problem::channels, map.channels};
  if (map.pixels == 0 || map.pixels > kMostPixels) return {Problem::pixels, map.pixels};
  return {};
}

Result check_box(const TensorMap& map) {
  if (map.mode == static_cast<uint8_t>(TensorMode::im2col)) {
    if (const Result pixels = check_pixels(map); pixels.problem != Problem::none) return pixels;
  } else {
    for (uint32_t i = 0; i < map.rank(); ++i) {
      if (map.box[i] == 0 || map.box[i] > kMostBox) return {Problem::box, map.box[i]};
    }
  }
  const uint64_t row = map.row_bytes();
  if (row % kLine != 0) return {Problem::box_row, row};
  if (map.swizzle != 0 && map.interleave == 0 && row > map.swizzle_bytes()) {
    return {Problem::box_swizzle, row};
  }
  if (map.box_bytes() > kMostBoxBytes) return {Problem::box_bytes, map.box_bytes()};
  return {};
}

}  // namespace

uint32_t bytes_of(TensorElement element) {
  switch (element) {
    case TensorElement::u8:
      return 1;
    case TensorElement::u16:
    case TensorElement::f16:
    case TensorElement::bf16:
      return 2;
    case TensorElement::u64:
    case TensorElement::s64:
    case TensorElement::f64:
      return 8;
    default:
      return 4;
  }
}

uint32_t TensorMap::box_count(uint32_t dimension) const {
  const bool ignores_step = dimension == 0 && interleave == 0;
  const uint32_t step = ignores_step ? 1 : std::max<uint32_t>(steps[dimension], 1);
  return (box[dimension] + step - 1) / step;
}

uint64_t TensorMap::row_bytes() const {
  const bool is_im2col = mode == static_cast<uint8_t>(TensorMode::im2col);
  return uint64_t{is_im2col ? channels : box_count(0)} * element_bytes();
}

uint64_t TensorMap::box_bytes() const {
  uint64_t bytes = row_bytes();
  if (mode == static_cast<uint8_t>(TensorMode::im2col)) return bytes * pixels;
  // This cannot overflow: the size is below 2^48.
  for (uint32_t i = 1; i < rank(); ++i) bytes *= box_count(i);
  return bytes;
}

uint32_t TensorMap::swizzle_bytes() const { return swizzle == 0 ? 16 : 16U << swizzle; }

TensorMapCheck check(const TensorMap& map) {
  Result result = check_numbers(map);
  if (result.problem == Problem::none) result = check_tensor(map);
  if (result.problem == Problem::none) result = check_box(map);
  return result;
}

const char* text_of(TensorMapProblem problem) {
  switch (problem) {
    case Problem::none:
      return "nothing is wrong";
    case Problem::no_map:
      return "the memory holds none: make it by cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col, "
             "or by tensormap.replace on 128 bytes of zeros";
    case Problem::rank:
      return "a tensor has 1 to 5 dimensions, of im2col maps 3 to 5";
    case Problem::element:
      return "its type of elements does not exist in compute capability 9.0";
    case Problem::interleave:
      return "its interleave layout is none: 0, 1 and 2 stand for none, 16 and 32 bytes";
    case Problem::swizzle:
      return "its swizzle mode does not exist in compute capability 9.0: 0 to 3 stand for none, "
             "32, 64 and 128 bytes";
    case Problem::swizzle_atomicity:
      return "swizzled pieces of other sizes than 16 bytes need compute capability 10.0";
    case Problem::fill:
      return "its fill mode is none: 0 stands for zeros and 1 for NaNs";
    case Problem::fill_of_integers:
      return "only tensors of floats are filled with NaNs";
    case Problem::mode:
      return "it is neither tiled nor im2col";
    case Problem::address:
      return "the tensor's address must be a multiple of 16, with an interleave of 32 bytes of 32";
    case Problem::size:
      return "the size of a dimension must be 1 to 2^32 elements";
    case Problem::stride:
      return "a stride must be a multiple of 16 below 2^40 bytes, with an interleave of 32 bytes a "
             "multiple of 32";
    case Problem::box:
      return "a box has 1 to 256 elements in each dimension";
    case Problem::box_row:
      return "the innermost row of a box must be a multiple of 16 bytes";
    case Problem::box_swizzle:
      return "the innermost row of a box must not be longer than its swizzle";
    case Problem::step:
      return "an element stride must be 1 to 8";
    case Problem::interleave_rank:
      return "interleaved tensors have 3 to 5 dimensions";
    case Problem::interleave_swizzle:
      return "an interleave of 32 bytes needs a swizzle of 32 bytes";
    case Problem::corner:
      return "a corner of the pixel box must fit into 16 bits with one pixel dimension, 8 with "
             "two, "
             "5 with three";
    case Problem::channels:
      return "1 to 256 channels are copied of a pixel";
    case Problem::pixels:
      return "1 to 1024 pixels are copied";
    case Problem::box_bytes:
      return "a box must fit into shared memory";
  }
  return "";
}

}  // namespace km
