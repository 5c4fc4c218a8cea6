#include "dropin/cudnn/engine/convolution_loops.h"

#include "dropin/cudnn/engine/layout/vectors.h"
#include "dropin/cudnn/engine/product.h"
#include "dropin/cudnn/engine/space.h"

namespace km::cudnn {
namespace {

/// The memory of an epilogue and its parameters.
struct OwnEpilogue {
  explicit OwnEpilogue(const Epilogue& given)
      : alpha(given.alpha), beta(given.beta), alpha_z(given.alpha_z) {
    if (given.z != nullptr) z = *given.z;
    if (given.bias != nullptr) bias = *given.bias;
    has_activation = given.activation != nullptr;
    if (has_activation) activation = *given.activation;
  }
  double alpha, beta, alpha_z;
  View z, bias;
  PointwiseSettings activation;
  bool has_activation;
};

/// A position in space, counted row by row.
Extents position_of(int64_t index, const int64_t* dims, int count) {
  Extents found{};
  for (int i = count - 1; i >= 0; --i) {
    found[i] = index % dims[i];
    index /= dims[i];
  }
  return found;
}
int64_t volume(const Shape& shape) {
  int64_t found = 1;
  for (int i = 2; i < shape.rank; ++i) found *= shape.dims[i];
  return found;
}
int64_t spatial_offset(const Shape& shape, const Extents& at) {
  int64_t found = 0;
  for (int i = 2; i < shape.rank; ++i) found += at[i - 2] * shape.strides[i];
  return found;
}

/// A convolution as products: for each batch, rows (M) by columns (P), summed over a depth (L).
/// Forward: M = K, P = output positions, L = C x taps. Backward data: M = C, P = input positions,
/// L = K x taps. Backward filter: M = K, P = C x taps, L = N x output positions.
struct Convolution {
  Direction direction;
  ConvolutionSettings s;
  View x, w, y;
  OwnEpilogue epilogue;
  int64_t groups = 1, group_k = 0, group_c = 0, taps = 0, inputs = 0, outputs = 0;
  int64_t rows = 0, columns = 0, depth = 0, batches = 0;
  int64_t row_tiles = 0, column_tiles = 0;

  const View& result() const {
    return direction == Direction::kForward ? y : direction == Direction::kBackwardData ? x : w;
  }
  Extents tap_at(int64_t tap) const {
    Extents at = position_of(tap, w.dims.data() + 2, s.spatial);
    if (s.is_flipped) {
      for (int i = 0; i < s.spatial; ++i) at[i] = w.dims[i + 2] - 1 - at[i];
    }
    return at;
  }
  int64_t w_offset(int64_t k, int64_t c, int64_t tap) const {
    return k * w.strides[0] + w.channel_offset(c) +
           spatial_offset(w, position_of(tap, w.dims.data() + 2, s.spatial));
  }
  /// The input element that an output position meets with a tap, without its channel; -1: padding.
  int64_t x_offset(const Extents& output, const Extents& tap) const {
    int64_t found = 0;
    for (int i = 0; i < s.spatial; ++i) {
      const int64_t at = output[i] * s.steps[i] - s.pads[i] + tap[i] * s.dilations[i];
      if (at < 0 || at >= x.dims[i + 2]) return -1;
      found += at * x.strides[i + 2];
    }
    return found;
  }
  /// The output element that reads an input position by a tap, without its channel; -1: none.
  int64_t y_offset(const Extents& input, const Extents& tap) const {
    int64_t found = 0;
    for (int i = 0; i < s.spatial; ++i) {
      const int64_t at = input[i] + s.pads[i] - tap[i] * s.dilations[i];
      if (at < 0 || at % s.steps[i] != 0 || at / s.steps[i] >= y.dims[i + 2]) return -1;
      found += at / s.steps[i] * y.strides[i + 2];
    }
    return found;
  }

  /// A tile within its batch and group.
  struct Place {
    int64_t n, group, m0, p0, rows, columns;
  };
  Place place_of(int64_t index) const {
    const int64_t tiles = row_tiles * column_tiles, outer = index / tiles;
    Place at{};
    at.group = outer % groups;
    at.n = outer / groups;
    at.m0 = index / column_tiles % row_tiles * kTileRows;
    at.p0 = index % column_tiles * kTileColumns;
    at.rows = std::min(kTileRows, rows - at.m0);
    at.columns = std::min(kTileColumns, columns - at.p0);
    return at;
  }

  /// Values of the filter for `count` outputs from `k` on, if the filter is reordered.
  template <class T>
  void get_reordered(int64_t k, int64_t c, int64_t tap, int64_t count, T* out) const {
    for (int64_t i = 0; i < count; ++i) {
      read_row(w, reordered_filter_place(w, taps, k + i, c, tap), 1, 1, out + i);
    }
  }
  /// Rows of the filter: its K forward, its C backward.
  template <class T>
  void get_filter(const Place& at, int64_t l, int64_t count, T* out) const {
    const bool is_forward = direction == Direction::kForward;
    for (int64_t j = 0; j < count; ++j) {
      const int64_t channel = (l + j) / taps, tap = (l + j) % taps;
      const int64_t step = is_forward ? w.strides[0] : w.strides[1];
      const int64_t k = at.group * group_k + (is_forward ? at.m0 : channel);
      const int64_t c = is_forward ? channel : at.m0;
      T column[kTileRows];
      if (s.is_reordered) {
        get_reordered(k, c, tap, at.rows, column);
      } else {
        read_row(w, w_offset(k, c, tap), step, at.rows, column);
      }
      for (int64_t i = 0; i < at.rows; ++i) out[i * kTileDepth + j] = column[i];
    }
  }
  /// Rows of dy, for the filter's gradient.
  template <class T>
  void get_gradients(const Place& at, int64_t l, int64_t count, T* out) const {
    for (int64_t j = 0; j < count; ++j) {
      const int64_t n = (l + j) / outputs;
      const Extents position = position_of((l + j) % outputs, y.dims.data() + 2, s.spatial);
      const int64_t k = at.group * group_k + at.m0;
      T column[kTileRows];
      read_row(y, n * y.strides[0] + k * y.strides[1] + spatial_offset(y, position), y.strides[1],
               at.rows, column);
      for (int64_t i = 0; i < at.rows; ++i) out[i * kTileDepth + j] = column[i];
    }
  }

  /// Elements at `offsets`, of which -1 is a zero; runs of equal distances are read at once.
  template <class T>
  static void gather(const View& from, int64_t base, const int64_t* offsets, int64_t count,
                     T* out) {
    for (int64_t i = 0; i < count;) {
      if (offsets[i] < 0) {
        out[i++] = 0;
        continue;
      }
      int64_t run = 1;
      const int64_t step = i + 1 < count && offsets[i + 1] >= 0 ? offsets[i + 1] - offsets[i] : 0;
      while (i + run < count && offsets[i + run] == offsets[i] + run * step && step > 0) ++run;
      read_row(from, base + offsets[i], step, run, out + i);
      i += run;
    }
  }
  /// Columns of x (forward) or dy (backward data), at the tile's positions.
  template <class T>
  void get_positions(const Place& at, int64_t l, int64_t count, std::vector<int64_t>& table,
                     T* out) const {
    const bool is_forward = direction == Direction::kForward;
    const View& from = is_forward ? x : y;
    const int64_t channels = is_forward ? group_c : group_k;
    for (int64_t j = 0; j < count; ++j) {
      const int64_t channel = (l + j) / taps, tap = (l + j) % taps;
      const int64_t base =
          at.n * from.strides[0] + from.channel_offset(at.group * channels + channel);
      T* const row = out + j * kTileColumns;
      gather(from, base, table.data() + tap * kTileColumns, at.columns, row);
      std::fill(row + at.columns, row + kTileColumns, T{0});
    }
  }
  /// The offsets of a tile's positions for all taps.
  std::vector<int64_t> position_table(const Place& at) const {
    std::vector<int64_t> found(static_cast<size_t>(taps * kTileColumns));
    const bool is_forward = direction == Direction::kForward;
    const Shape& space = is_forward ? static_cast<const Shape&>(y) : x;
    for (int64_t p = 0; p < at.columns; ++p) {
      const Extents position = position_of(at.p0 + p, space.dims.data() + 2, s.spatial);
      for (int64_t tap = 0; tap < taps; ++tap) {
        found[static_cast<size_t>(tap * kTileColumns + p)] =
            is_forward ? x_offset(position, tap_at(tap)) : y_offset(position, tap_at(tap));
      }
    }
    return found;
  }
  /// Columns of x for the filter's gradient: a channel and a tap each.
  template <class T>
  void get_taps(const Place& at, int64_t l, int64_t count, T* out) const {
    for (int64_t j = 0; j < count; ++j) {
      const int64_t n = (l + j) / outputs;
      const Extents position = position_of((l + j) % outputs, y.dims.data() + 2, s.spatial);
      T* const row = out + j * kTileColumns;
      for (int64_t p = 0; p < at.columns; ++p) {
        const int64_t channel = at.group * group_c + (at.p0 + p) / taps;
        const int64_t from = x_offset(position, tap_at((at.p0 + p) % taps));
        row[p] = 0;
        if (from < 0) continue;
        read_row(x, n * x.strides[0] + channel * x.strides[1] + from, 1, 1, row + p);
      }
      std::fill(row + at.columns, row + kTileColumns, T{0});
    }
  }

  int64_t result_offset(const Place& at, int64_t m, int64_t p) const {
    if (direction == Direction::kBackwardFilter) {
      return w_offset(at.group * group_k + m, p / taps, p % taps);
    }
    const View& to = result();
    const int64_t channels = direction == Direction::kForward ? group_k : group_c;
    return at.n * to.strides[0] + to.channel_offset(at.group * channels + m) +
           spatial_offset(to, position_of(p, to.dims.data() + 2, s.spatial));
  }
  double finish(double sum, const Place& at, int64_t m, int64_t p, int64_t to) const {
    double value = epilogue.alpha * sum;
    if (epilogue.beta != 0) value += epilogue.beta * read_one(result(), to);
    const int64_t k = at.group * group_k + m;
    if (epilogue.z.data != nullptr) {
      const Extents position = position_of(p, y.dims.data() + 2, s.spatial);
      value += epilogue.alpha_z *
               read_one(epilogue.z, at.n * epilogue.z.strides[0] + epilogue.z.channel_offset(k) +
                                        spatial_offset(epilogue.z, position));
    }
    if (epilogue.bias.data != nullptr) {
      const int64_t place = s.is_reordered ? reordered_bias_place(k) : k;
      value += read_one(epilogue.bias, place * epilogue.bias.strides[1]);
    }
    if (!epilogue.has_activation) return value;
    double out = 0;
    apply_pointwise<double>(epilogue.activation, 1, &value, nullptr, nullptr, &out);
    return out;
  }
  void store(const double* totals, const Place& at) const {
    for (int64_t i = 0; i < at.rows; ++i) {
      for (int64_t j = 0; j < at.columns; ++j) {
        const int64_t to = result_offset(at, at.m0 + i, at.p0 + j);
        write_one(result(), to, finish(totals[i * kTileColumns + j], at, at.m0 + i, at.p0 + j, to));
      }
    }
  }

  template <class T>
  void tile(TileBuffers<T>& buffers, int64_t index) const {
    const Place at = place_of(index);
    if (direction == Direction::kBackwardFilter) {
      make_tile(
          buffers, at.rows, depth,
          [&](int64_t l, int64_t count, T* out) { get_gradients(at, l, count, out); },
          [&](int64_t l, int64_t count, T* out) { get_taps(at, l, count, out); });
    } else {
      std::vector<int64_t> table = position_table(at);
      make_tile(
          buffers, at.rows, depth,
          [&](int64_t l, int64_t count, T* out) { get_filter(at, l, count, out); },
          [&](int64_t l, int64_t count, T* out) { get_positions(at, l, count, table, out); });
    }
    store(buffers.totals.data(), at);
  }
  template <class T>
  void run(const Part& part) const {
    TileBuffers<T> buffers;
    for (int64_t i = part.begin; i < part.end; ++i) tile(buffers, i);
  }
};

Convolution make_convolution(Direction direction, const ConvolutionSettings& settings,
                             const View& x, const View& w, const View& y,
                             const Epilogue& epilogue) {
  Convolution work{direction, settings, x, w, y, OwnEpilogue(epilogue)};
  work.groups = x.dims[1] / w.dims[1];
  work.group_c = w.dims[1];
  work.group_k = w.dims[0] / work.groups;
  work.taps = volume(w);
  work.inputs = volume(x);
  work.outputs = volume(y);
  const bool is_filter = direction == Direction::kBackwardFilter;
  const bool is_data = direction == Direction::kBackwardData;
  work.batches = is_filter ? 1 : x.dims[0];
  work.rows = is_data ? work.group_c : work.group_k;
  work.columns = is_filter ? work.group_c * work.taps : is_data ? work.inputs : work.outputs;
  work.depth =
      is_filter ? x.dims[0] * work.outputs : (is_data ? work.group_k : work.group_c) * work.taps;
  work.row_tiles = (work.rows + kTileRows - 1) / kTileRows;
  work.column_tiles = (work.columns + kTileColumns - 1) / kTileColumns;
  return work;
}

}  // namespace

cudnnStatus_t convolve_by_loops(cu::CUstream stream, Direction direction,
                                const ConvolutionSettings& settings, const View& x, const View& w,
                                const View& y, const Epilogue& epilogue) {
  Convolution work = make_convolution(direction, settings, x, w, y, epilogue);
  const View& result = work.result();
  Arrays arrays;
  for (const View* each : {&x, &w, &y}) {
    if (each->data != result.data) arrays.reads("an operand", *each);
  }
  arrays.reads("z", work.epilogue.z).reads("bias", work.epilogue.bias).writes("the result", result);
  // Sums of bytes are exact in f64.
  bool is_wide = false;
  for (const View* each : {&x, &w, &y}) {
    is_wide = is_wide || needs_double(each->type) || each->type == CUDNN_DATA_INT8 ||
              each->type == CUDNN_DATA_UINT8;
  }
  const int64_t tiles = work.batches * work.groups * work.row_tiles * work.column_tiles;
  const double tile_ns =
      static_cast<double>(kTileRows * kTileColumns) * static_cast<double>(work.depth) / 4;
  return submit_step(stream, "cudnn convolution", arrays, tiles, tile_ns,
                     [work = std::move(work), tiles, is_wide](uint64_t piece, uint64_t pieces) {
                       const Part part(tiles, piece, pieces);
                       is_wide ? work.run<double>(part) : work.run<float>(part);
                     });
}

}  // namespace km::cudnn
