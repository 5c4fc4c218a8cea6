#include "dropin/cudnn/engine/layers/lrn.h"

#include <cmath>

#include "dropin/cudnn/engine/space.h"

namespace km::cudnn {
namespace {

/// The offset of a position without its channel: index counts N and the spatial dimensions.
int64_t column_offset(const Shape& shape, int64_t index) {
  int64_t found = 0;
  for (int d = shape.rank - 1; d >= 0; --d) {
    if (d == 1) continue;
    found += index % shape.dims[d] * shape.strides[d];
    index /= shape.dims[d];
  }
  return found;
}

/// The values of all channels at one position.
struct Column {
  explicit Column(int64_t channels) : values(static_cast<size_t>(channels)) {}
  void read(const View& from, int64_t offset) {
    read_row(from, offset, from.strides[1], static_cast<int64_t>(values.size()), values.data());
  }
  void write(const View& to, int64_t offset, double alpha, double beta) {
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t at = offset + static_cast<int64_t>(i) * to.strides[1];
      values[i] *= alpha;
      if (beta != 0) values[i] += beta * read_one(to, at);
    }
    write_row(to, offset, to.strides[1], static_cast<int64_t>(values.size()), values.data());
  }
  std::vector<double> values;
};

/// The channels that the sum for channel `c` goes over.
struct Window {
  Window(const LrnSettings& s, int64_t c, int64_t channels)
      : begin(std::max<int64_t>(c - (s.size - 1) / 2, 0)),
        end(std::min(c + s.size / 2 + 1, channels)) {}
  int64_t begin, end;
};

std::vector<double> scales_of(const LrnSettings& s, const std::vector<double>& x) {
  std::vector<double> found(x.size());
  const auto channels = static_cast<int64_t>(x.size());
  for (int64_t c = 0; c < channels; ++c) {
    const Window window(s, c, channels);
    double sum = 0;
    for (int64_t i = window.begin; i < window.end; ++i) {
      sum += x[static_cast<size_t>(i)] * x[static_cast<size_t>(i)];
    }
    found[static_cast<size_t>(c)] = s.k + s.lrn_alpha / static_cast<double>(s.size) * sum;
  }
  return found;
}

void forward(const LrnSettings& s, const View& x, const View& y, const Part& part) {
  Column column(x.dims[1]);
  for (int64_t i = part.begin; i < part.end; ++i) {
    column.read(x, column_offset(x, i));
    const std::vector<double> scales = scales_of(s, column.values);
    for (size_t c = 0; c < scales.size(); ++c) column.values[c] *= std::pow(scales[c], -s.lrn_beta);
    column.write(y, column_offset(y, i), s.alpha, s.beta);
  }
}

/// dx_i = dy_i scale_i^-beta - 2 alpha beta / size x_i sum_j dy_j x_j scale_j^(-beta - 1).
void backward(const LrnSettings& s, const View& x, const View& dy, const View& dx,
              const Part& part) {
  const int64_t channels = x.dims[1];
  Column xs(channels), dys(channels), out(channels);
  const double factor = 2 * s.lrn_alpha * s.lrn_beta / static_cast<double>(s.size);
  for (int64_t i = part.begin; i < part.end; ++i) {
    xs.read(x, column_offset(x, i));
    dys.read(dy, column_offset(dy, i));
    const std::vector<double> scales = scales_of(s, xs.values);
    for (size_t c = 0; c < scales.size(); ++c) {
      out.values[c] = dys.values[c] * std::pow(scales[c], -s.lrn_beta);
    }
    for (int64_t j = 0; j < channels; ++j) {
      const auto at = static_cast<size_t>(j);
      const double term =
          factor * dys.values[at] * xs.values[at] * std::pow(scales[at], -s.lrn_beta - 1);
      const Window window(s, j, channels);
      for (int64_t c = window.begin; c < window.end; ++c) {
        out.values[static_cast<size_t>(c)] -= term * xs.values[static_cast<size_t>(c)];
      }
    }
    out.write(dx, column_offset(dx, i), s.alpha, s.beta);
  }
}

cudnnStatus_t check(const View& x, const View& y) {
  if (!x.has_dims(y) || x.rank < 3) return invalid("the extents of x and y differ");
  return CUDNN_STATUS_SUCCESS;
}

/// One plane of a divisive normalization, of two dimensions.
void divide_plane(const LrnSettings& s, const View& x, const View& means, const View& y,
                  int64_t plane) {
  const int64_t height = x.dims[2], width = x.dims[3];
  const auto base = [&](const View& view) {
    return plane / x.dims[1] * view.strides[0] + plane % x.dims[1] * view.strides[1];
  };
  const auto centered = [&](int64_t i, int64_t j) {
    const double value = read_one(x, base(x) + i * x.strides[2] + j * x.strides[3]);
    if (means.data == nullptr) return value;
    return value - read_one(means, base(means) + i * means.strides[2] + j * means.strides[3]);
  };
  const int64_t before = (s.size - 1) / 2, behind = s.size / 2;
  for (int64_t i = 0; i < height; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      double sum = 0;
      for (int64_t u = std::max<int64_t>(i - before, 0); u <= std::min(i + behind, height - 1);
           ++u) {
        for (int64_t v = std::max<int64_t>(j - before, 0); v <= std::min(j + behind, width - 1);
             ++v) {
          sum += centered(u, v) * centered(u, v);
        }
      }
      const auto area = static_cast<double>(s.size * s.size);
      double value =
          s.alpha * centered(i, j) * std::pow(s.k + s.lrn_alpha / area * sum, -s.lrn_beta);
      const int64_t to = base(y) + i * y.strides[2] + j * y.strides[3];
      if (s.beta != 0) value += s.beta * read_one(y, to);
      write_one(y, to, value);
    }
  }
}

}  // namespace

cudnnStatus_t normalize_locally(cu::CUstream stream, const LrnSettings& settings, const View& x,
                                const View& y) {
  LIB_TRY(check(x, y));
  Arrays arrays;
  arrays.reads("x", x).writes("y", y);
  const int64_t columns = x.count() / x.dims[1];
  return submit_step(stream, "cudnn lrn", arrays, columns, static_cast<double>(x.dims[1]) * 40,
                     [=](uint64_t piece, uint64_t pieces) {
                       forward(settings, x, y, Part(columns, piece, pieces));
                     });
}

cudnnStatus_t normalize_locally_backward(cu::CUstream stream, const LrnSettings& settings,
                                         const View& x, const View& dy, const View& dx) {
  LIB_TRY(check(x, dy));
  LIB_TRY(check(x, dx));
  Arrays arrays;
  arrays.reads("x", x).reads("dy", dy).writes("dx", dx);
  const int64_t columns = x.count() / x.dims[1];
  return submit_step(stream, "cudnn lrn backward", arrays, columns,
                     static_cast<double>(x.dims[1]) * 80, [=](uint64_t piece, uint64_t pieces) {
                       backward(settings, x, dy, dx, Part(columns, piece, pieces));
                     });
}

cudnnStatus_t normalize_by_division(cu::CUstream stream, const LrnSettings& settings, const View& x,
                                    const View& means, const View& y) {
  LIB_TRY(check(x, y));
  if (x.rank != 4) return unsupported("divisive normalization of %d dimensions", x.rank);
  Arrays arrays;
  arrays.reads("x", x).reads("means", means).writes("y", y);
  const int64_t planes = x.dims[0] * x.dims[1];
  const double plane_ns =
      static_cast<double>(x.dims[2] * x.dims[3] * settings.size * settings.size);
  return submit_step(stream, "cudnn divisive normalization", arrays, planes, plane_ns * 10,
                     [=](uint64_t piece, uint64_t pieces) {
                       const Part part(planes, piece, pieces);
                       for (int64_t i = part.begin; i < part.end; ++i) {
                         divide_plane(settings, x, means, y, i);
                       }
                     });
}

}  // namespace km::cudnn
