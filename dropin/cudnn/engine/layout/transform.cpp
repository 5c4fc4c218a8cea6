#include "dropin/cudnn/engine/layout/transform.h"

#include <limits>

#include "dropin/cudnn/engine/layout/vectors.h"
#include "dropin/cudnn/engine/space.h"

namespace km::cudnn {
namespace {

constexpr int64_t kMostFolded = std::numeric_limits<int>::max();

/// Checks that the products of a position's folds and extents fit in 64 bits.
cudnnStatus_t check_folds(const TransformSettings& s, int rank) {
  int64_t folded = 1;
  for (int i = 2; i < rank; ++i) {
    if (s.fold[i] > kMostFolded || folded * s.fold[i] > kMostFolded) {
      return invalid("folds make more than 2^31 - 1 channels of one");
    }
    folded *= s.fold[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

int64_t folded_channels(const TransformSettings& s, int rank) {
  int64_t found = 1;
  for (int i = 2; i < rank; ++i) found *= s.fold[i];
  return found;
}

/// The offset of a position, whose channels may be vectors.
int64_t offset_of(const Shape& shape, const Extents& at) {
  int64_t found = 0;
  for (int i = 0; i < shape.rank; ++i) {
    found += i == 1 ? shape.channel_offset(at[1]) : at[i] * shape.strides[i];
  }
  return found;
}

/// The element of the source that a position of the result has; false: it is padding.
bool find_source(const TransformSettings& s, const Shape& from, Extents at, Extents* out) {
  const int64_t folded = folded_channels(s, from.rank);
  if (!s.unfolds) {
    int64_t rest = at[1] % folded;
    at[1] /= folded;
    for (int i = from.rank - 1; i >= 2; --i) {
      at[i] = at[i] * s.fold[i] + rest % s.fold[i];
      rest /= s.fold[i];
    }
  }
  for (int i = 0; i < from.rank; ++i) at[i] -= s.before[i];
  if (s.unfolds) {
    int64_t channel = at[1];
    for (int i = 2; i < from.rank; ++i) {
      if (at[i] < 0) return false;
      channel = channel * s.fold[i] + at[i] % s.fold[i];
      at[i] /= s.fold[i];
    }
    at[1] = channel;
  }
  for (int i = 0; i < from.rank; ++i) {
    if (at[i] < 0 || at[i] >= from.dims[i]) return false;
  }
  *out = at;
  return true;
}

Extents position_of(const Shape& shape, int64_t index) {
  Extents at{};
  for (int i = shape.rank - 1; i >= 0; --i) {
    at[i] = index % shape.dims[i];
    index /= shape.dims[i];
  }
  return at;
}

}  // namespace

cudnnStatus_t transformed_extents(const TransformSettings& s, const Shape& from, Extents* out) {
  LIB_TRY(check_folds(s, from.rank));
  const int64_t folded = folded_channels(s, from.rank);
  Extents found = from.dims;
  if (s.unfolds) {
    if (found[1] % folded != 0) {
      return invalid("%lld channels cannot be unfolded by %lld", static_cast<long long>(found[1]),
                     static_cast<long long>(folded));
    }
    found[1] /= folded;
    for (int i = 2; i < from.rank; ++i) found[i] *= s.fold[i];
  }
  for (int i = 0; i < from.rank; ++i) found[i] += s.before[i] + s.after[i];
  if (!s.unfolds) {
    found[1] *= folded;
    for (int i = 2; i < from.rank; ++i) found[i] = (found[i] + s.fold[i] - 1) / s.fold[i];
  }
  for (int i = 0; i < from.rank; ++i) {
    if (found[i] < 1 || found[i] > std::numeric_limits<int>::max()) {
      return invalid("dimension %d of the result has %lld elements", i,
                     static_cast<long long>(found[i]));
    }
  }
  *out = found;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t transform(cu::CUstream stream, const TransformSettings& settings, double alpha,
                        const View& x, double beta, const View& y) {
  for (const View* each : {&x, &y}) {
    if (type_bits(each->type) < 8) return unsupported("data type %d", each->type);
  }
  if (x.rank != y.rank) return invalid("tensors of %d and %d dimensions", x.rank, y.rank);
  Shape expected = y;
  LIB_TRY(transformed_extents(settings, x, &expected.dims));
  for (int i = 0; i < y.rank; ++i) {
    if (y.dims[i] != expected.dims[i]) {
      return invalid("dimension %d of the destination has %lld elements, not %lld", i,
                     static_cast<long long>(y.dims[i]), static_cast<long long>(expected.dims[i]));
    }
  }
  Arrays arrays;
  arrays.reads("srcData", x).writes("destData", y);
  const int64_t count = y.count();
  return submit_step(stream, "cudnn transform", arrays, count, 30.0,
                     [=](uint64_t piece, uint64_t pieces) {
                       const Part part(count, piece, pieces);
                       for (int64_t i = part.begin; i < part.end; ++i) {
                         const Extents at = position_of(y, i);
                         const int64_t to = offset_of(y, at);
                         Extents source{};
                         double value = 0;
                         if (find_source(settings, x, at, &source)) {
                           value = alpha * read_one(x, offset_of(x, source));
                         }
                         if (beta != 0) value += beta * read_one(y, to);
                         write_one(y, to, value);
                       }
                     });
}

cudnnStatus_t reorder_filter(cu::CUstream stream, const View& filter, void* reordered,
                             const void* bias, void* reordered_bias, bool reorders) {
  const int64_t outputs = filter.dims[0], channels = filter.dims[1];
  if (outputs % kReorderGroup != 0) {
    return unsupported("a filter of %lld outputs: reordering takes multiples of %lld",
                       static_cast<long long>(outputs), static_cast<long long>(kReorderGroup));
  }
  const View to(filter, reordered);
  const View from_bias(dense_shape(CUDNN_DATA_FLOAT, 1, &outputs), bias);
  const View to_bias(dense_shape(CUDNN_DATA_FLOAT, 1, &outputs), reordered_bias);
  Arrays arrays;
  arrays.reads("filterData", filter).writes("reorderedFilterData", to);
  if (bias != nullptr) arrays.reads("biasData", from_bias).writes("reorderedBiasData", to_bias);
  const int64_t taps = filter.count() / outputs / channels;
  return submit_step(
      stream, "cudnnReorderFilterAndBias", arrays, outputs,
      static_cast<double>(channels * taps) * 10, [=](uint64_t piece, uint64_t pieces) {
        const Part part(outputs, piece, pieces);
        for (int64_t k = part.begin; k < part.end; ++k) {
          for (int64_t i = 0; i < channels * taps; ++i) {
            const int64_t c = i / taps, tap = i % taps;
            const int64_t from = ((k * channels + c / 32 * 32) * taps) + tap * 32 + c % 32;
            to.data[reorders ? reordered_filter_place(filter, taps, k, c, tap) : from] =
                filter.data[from];
          }
          if (bias == nullptr) continue;
          write_one(to_bias, reorders ? reordered_bias_place(k) : k, read_one(from_bias, k));
        }
      });
}

}  // namespace km::cudnn
