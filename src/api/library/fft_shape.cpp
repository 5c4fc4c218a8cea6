#include "api/library/fft_shape.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <string>

#include "backend/fft_layout.h"
#include "base/text.h"

namespace km {
namespace {

// Sums of a few products of this size are no overflow.
constexpr uint64_t kMostBytes = uint64_t{1} << 58;

bool multiply(uint64_t* product, uint64_t factor) {
  return !__builtin_mul_overflow(*product, factor, product) && *product <= kMostBytes;
}

Error too_many_bytes(const char* side) {
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "shape->%s would have more than 2^58 bytes, which is more than any memory has; "
                    "check the sizes, the layout and batch_count",
                    side);
}

Status check_kind(const km_fft_shape& shape) {
  if (shape.kind < KM_FFT_KIND_COMPLEX || shape.kind > KM_FFT_KIND_COMPLEX_TO_REAL) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "shape->kind is %d; it can be 1 to 3", shape.kind);
  }
  if (shape.type != KM_DATA_TYPE_F32 && shape.type != KM_DATA_TYPE_F64 &&
      shape.type != KM_DATA_TYPE_F16 && shape.type != KM_DATA_TYPE_BF16) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "shape->type is %d; it is that of real numbers and of the parts of complex "
                      "ones, and can be f32 (%d), f64 (%d), f16 (%d) or bf16 (%d)",
                      shape.type, KM_DATA_TYPE_F32, KM_DATA_TYPE_F64, KM_DATA_TYPE_F16,
                      KM_DATA_TYPE_BF16);
  }
  if (shape.reserved != 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "shape->reserved is %u; it has to be 0",
                      shape.reserved);
  }
  return {};
}

Status check_sizes(const km_fft_shape& shape) {
  if (shape.rank < 1 || shape.rank > kMostFftRank) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "shape->rank is %u; it can be 1 to %u", shape.rank,
                      kMostFftRank);
  }
  for (uint32_t i = 0; i < kMostFftRank; ++i) {
    if (i < shape.rank && shape.sizes[i] == 0) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "shape->sizes[%u] is 0; a dimension has at least 1 element", i);
    }
    if (i >= shape.rank && shape.sizes[i] != 0) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "shape->sizes[%u] is %" PRIu64 "; it has to be 0 beyond the rank %u", i,
                        shape.sizes[i], shape.rank);
    }
  }
  if (shape.batch_count == 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "shape->batch_count is 0; at least 1 transform is possible");
  }
  return {};
}

/// Fails if the numbers of all transforms are more than a memory has.
Status check_count(const km_fft_shape& shape, bool is_input, const char* side) {
  uint64_t bytes = fft_element_size(shape, is_input);
  bool is_possible = multiply(&bytes, shape.batch_count);
  for (uint32_t i = 0; i < shape.rank; ++i) {
    is_possible = is_possible && multiply(&bytes, fft_length(shape, is_input, i));
  }
  if (!is_possible) return too_many_bytes(side);
  return {};
}

bool is_zero(const km_fft_layout& layout) {
  return (layout.extents[0] | layout.extents[1] | layout.extents[2] | layout.stride |
          layout.distance) == 0;
}

/// The layout of transforms that lie one after the other without gaps.
km_fft_layout dense_layout(const km_fft_shape& shape, bool is_input) {
  km_fft_layout layout{};
  layout.stride = layout.distance = 1;
  for (uint32_t i = 0; i < shape.rank; ++i) {
    layout.extents[i] = fft_length(shape, is_input, i);
    layout.distance *= layout.extents[i];
  }
  return layout;
}

Status check_layout(const km_fft_shape& shape, bool is_input, const char* side) {
  const km_fft_layout& layout = fft_layout(shape, is_input);
  if (layout.stride == 0 || (layout.distance == 0 && shape.batch_count > 1)) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "shape->%s.%s is 0, but other members of the layout are not; give all of "
                      "them, or none for a dense layout",
                      side, layout.stride == 0 ? "stride" : "distance");
  }
  for (uint32_t i = 1; i < kMostFftRank; ++i) {
    const uint64_t least = i < shape.rank ? fft_length(shape, is_input, i) : 0;
    if (layout.extents[i] < least) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "shape->%s.extents[%u] is %" PRIu64 "; the dimension has %s", side, i,
                        layout.extents[i], counted(least, "element").c_str());
    }
    if (i >= shape.rank && layout.extents[i] != 0) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "shape->%s.extents[%u] is %" PRIu64 "; it has to be 0 beyond the rank %u",
                        side, i, layout.extents[i], shape.rank);
    }
  }
  return {};
}

/// Fails if an element would lie further from the first one than a memory reaches.
Status check_reach(const km_fft_shape& shape, bool is_input, const char* side) {
  const km_fft_layout& layout = fft_layout(shape, is_input);
  uint64_t step = fft_element_size(shape, is_input), distance = step;
  bool is_possible = multiply(&step, layout.stride);
  for (uint32_t i = shape.rank; is_possible && i-- > 0;) {
    uint64_t reach = step;
    is_possible = multiply(&reach, fft_length(shape, is_input, i));
    if (i > 0) is_possible = is_possible && multiply(&step, layout.extents[i]);
  }
  if (shape.batch_count > 1) {
    is_possible = is_possible && multiply(&distance, layout.distance) &&
                  multiply(&distance, shape.batch_count);
  }
  if (!is_possible) return too_many_bytes(side);
  return {};
}

/// One dimension of an array, the batch included.
struct Dimension {
  uint64_t count, stride;
  std::string name;
};

/// Fails if elements of the output share memory. Each dimension has to step over all elements of
/// those with smaller steps.
Status check_apart(const km_fft_shape& shape) {
  const FftStrides strides = fft_strides(shape, false);
  std::array<Dimension, kMostFftRank + 1> dimensions;
  uint32_t used = 0;
  for (uint32_t i = 0; i < shape.rank; ++i) {
    const uint64_t length = fft_length(shape, false, i);
    if (length > 1) {
      dimensions[used++] = {length, strides.of[i], "dimension " + std::to_string(i)};
    }
  }
  if (shape.batch_count > 1) {
    dimensions[used++] = {shape.batch_count, shape.output.distance, "the batch"};
  }
  std::sort(dimensions.begin(), dimensions.begin() + used,
            [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
  uint64_t span = 1;
  for (uint32_t i = 0; i < used; ++i) {
    const Dimension& each = dimensions[i];
    if (each.stride < span) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "elements of shape->output share memory: %s has one every %" PRIu64
                        " elements, of which the dimensions with smaller steps take %" PRIu64
                        "; enlarge the extents or the distance",
                        each.name.c_str(), each.stride, span);
    }
    span += (each.count - 1) * each.stride;
  }
  return {};
}

}  // namespace

Result<km_fft_shape> complete_fft_shape(const km_fft_shape& given) {
  km_fft_shape shape = given;
  KM_TRY(check_kind(shape));
  KM_TRY(check_sizes(shape));
  for (const bool is_input : {true, false}) {
    const char* const side = is_input ? "input" : "output";
    km_fft_layout& layout = is_input ? shape.input : shape.output;
    KM_TRY(check_count(shape, is_input, side));
    const bool is_dense = is_zero(layout);
    if (is_dense) layout = dense_layout(shape, is_input);
    if (!is_dense) KM_TRY(check_layout(shape, is_input, side));
    layout.extents[0] = fft_length(shape, is_input, 0);
    KM_TRY(check_reach(shape, is_input, side));
    if (shape.batch_count == 1) layout.distance = fft_span(shape, is_input);
  }
  KM_TRY(check_apart(shape));
  return shape;
}

BlasRegion fft_region(const km_fft_shape& shape, bool is_input) {
  const uint64_t element_bytes = fft_element_size(shape, is_input);
  const uint64_t distance = fft_layout(shape, is_input).distance;
  const uint64_t span = fft_span(shape, is_input);
  BlasRegion region;
  region.lines = 1;
  if (distance > span) {
    region.line_bytes = span * element_bytes;
    region.batch_count = shape.batch_count;
    region.stride_bytes = distance * element_bytes;
  } else {  // the transforms have no gaps between them, or interleave
    region.line_bytes = (span + (shape.batch_count - 1) * distance) * element_bytes;
  }
  return region;
}

}  // namespace km
