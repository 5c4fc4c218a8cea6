#include "dropin/cudnn/engine/layers/planes.h"

#include <algorithm>

namespace km::cudnn {
namespace {

int64_t plane_offset(const Shape& shape, int64_t plane) {
  return plane / shape.dims[1] * shape.strides[0] + plane % shape.dims[1] * shape.strides[1];
}

/// Calls `row(offset, count, first)` for the rows of a plane along its last dimension.
template <class Row>
void each_plane_row(const Shape& shape, Row&& row) {
  const int last = shape.rank - 1;
  const int64_t width = shape.dims[last], rows = plane_size(shape) / std::max<int64_t>(width, 1);
  for (int64_t i = 0; i < rows; ++i) {
    int64_t rest = i, at = 0;
    for (int d = last - 1; d >= 2; --d) {
      at += rest % shape.dims[d] * shape.strides[d];
      rest /= shape.dims[d];
    }
    row(at, width, i * width);
  }
}

}  // namespace

int64_t plane_size(const Shape& shape) {
  int64_t found = 1;
  for (int i = 2; i < shape.rank; ++i) found *= shape.dims[i];
  return found;
}

std::vector<double> read_plane(const View& view, int64_t plane) {
  std::vector<double> values(static_cast<size_t>(plane_size(view)));
  each_plane_row(view, [&](int64_t at, int64_t width, int64_t first) {
    read_row(view, plane_offset(view, plane) + at, view.strides[view.rank - 1], width,
             values.data() + first);
  });
  return values;
}
void write_plane(const View& view, int64_t plane, double alpha, double beta,
                 const std::vector<double>& values) {
  std::vector<double> row(static_cast<size_t>(view.dims[view.rank - 1]));
  each_plane_row(view, [&](int64_t at, int64_t width, int64_t first) {
    const int64_t offset = plane_offset(view, plane) + at, step = view.strides[view.rank - 1];
    if (beta != 0) read_row(view, offset, step, width, row.data());
    for (int64_t i = 0; i < width; ++i) {
      double& element = row[static_cast<size_t>(i)];
      const double value = alpha * values[static_cast<size_t>(first + i)];
      element = beta != 0 ? value + beta * element : value;
    }
    write_row(view, offset, step, width, row.data());
  });
}

}  // namespace km::cudnn
