#include "dropin/cudnn/engine/layers/lrn.h"

#include <cmath>

#include "dropin/cudnn/engine/layers/planes.h"

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

/// One plane of a divisive normalization, of two dimensions: what is left of x without the means,
/// and k + lrn_alpha / size^2 * the sums of its squares over windows.
struct DividedPlane {
  DividedPlane(const LrnSettings& s, const View& x, const View& means, int64_t plane)
      : height(x.dims[2]), width(x.dims[3]), z(read_plane(x, plane)), scales(z.size()) {
    if (means.data != nullptr) {
      const std::vector<double> mean = read_plane(means, plane);
      for (size_t i = 0; i < z.size(); ++i) z[i] -= mean[i];
    }
    const auto area = static_cast<double>(s.size * s.size);
    for (size_t at = 0; at < z.size(); ++at) {
      double sum = 0;
      each_of_window(s, at, [&](size_t i) { sum += z[i] * z[i]; });
      scales[at] = s.k + s.lrn_alpha / area * sum;
    }
  }
  /// Calls `body(i)` for the elements of the window around element `at`.
  template <class Body>
  void each_of_window(const LrnSettings& s, size_t at, Body&& body) const {
    const int64_t before = (s.size - 1) / 2, after = s.size / 2;
    const int64_t row = static_cast<int64_t>(at) / width, column = static_cast<int64_t>(at) % width;
    for (int64_t i = std::max<int64_t>(row - before, 0); i <= std::min(row + after, height - 1);
         ++i) {
      for (int64_t j = std::max<int64_t>(column - before, 0);
           j <= std::min(column + after, width - 1); ++j) {
        body(static_cast<size_t>(i * width + j));
      }
    }
  }
  int64_t height, width;
  std::vector<double> z, scales;
};

void divide_plane(const LrnSettings& s, const View& x, const View& means, const View& y,
                  int64_t index) {
  DividedPlane plane(s, x, means, index);
  for (size_t i = 0; i < plane.z.size(); ++i) {
    plane.z[i] *= std::pow(plane.scales[i], -s.lrn_beta);
  }
  write_plane(y, index, s.alpha, s.beta, plane.z);
}

/// The gradient of z is dy scale^-beta, less 2 alpha beta / size^2 z times the sum of dy z
/// scale^(-beta - 1) of all windows that z is in.
void divide_plane_backward(const LrnSettings& s, const DivisionGradient& g, int64_t index) {
  const DividedPlane plane(s, g.x, g.means, index);
  const std::vector<double> dy = read_plane(g.dy, index);
  const double factor = 2 * s.lrn_alpha * s.lrn_beta / static_cast<double>(s.size * s.size);
  std::vector<double> dz(dy.size());
  for (size_t at = 0; at < dy.size(); ++at) {
    dz[at] += dy[at] * std::pow(plane.scales[at], -s.lrn_beta);
    const double term = factor * dy[at] * plane.z[at] * std::pow(plane.scales[at], -s.lrn_beta - 1);
    plane.each_of_window(s, at, [&](size_t i) { dz[i] -= term * plane.z[i]; });
  }
  write_plane(g.dx, index, s.alpha, s.beta, dz);
  if (g.dmeans.data != nullptr) write_plane(g.dmeans, index, -s.alpha, s.beta, dz);
}

/// The time that a plane's windows take.
double plane_ns(const LrnSettings& s, const Shape& x) {
  return static_cast<double>(x.dims[2] * x.dims[3] * s.size * s.size) * 10;
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
  return submit_step(stream, "cudnn divisive normalization", arrays, planes, plane_ns(settings, x),
                     [=](uint64_t piece, uint64_t pieces) {
                       const Part part(planes, piece, pieces);
                       for (int64_t i = part.begin; i < part.end; ++i) {
                         divide_plane(settings, x, means, y, i);
                       }
                     });
}

cudnnStatus_t normalize_by_division_backward(cu::CUstream stream, const LrnSettings& settings,
                                             const DivisionGradient& gradient) {
  const View& x = gradient.x;
  LIB_TRY(check(x, gradient.dx));
  if (x.rank != 4) return unsupported("divisive normalization of %d dimensions", x.rank);
  Arrays arrays;
  arrays.reads("x", x).reads("means", gradient.means).reads("dy", gradient.dy);
  arrays.writes("dx", gradient.dx).writes("dMeans", gradient.dmeans);
  const int64_t planes = x.dims[0] * x.dims[1];
  return submit_step(stream, "cudnn divisive normalization backward", arrays, planes,
                     plane_ns(settings, x) * 3, [=](uint64_t piece, uint64_t pieces) {
                       const Part part(planes, piece, pieces);
                       for (int64_t i = part.begin; i < part.end; ++i) {
                         divide_plane_backward(settings, gradient, i);
                       }
                     });
}

}  // namespace km::cudnn
