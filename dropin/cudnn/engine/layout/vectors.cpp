#include "dropin/cudnn/engine/layout/vectors.h"

#include <algorithm>

namespace km::cudnn {
namespace {

/// Splits the channels of a shape into C / most, most / least and least.
Shape split(const Shape& shape, int64_t least, int64_t most) {
  const int added = most > least ? 2 : 1;
  Shape found = shape;
  found.rank = shape.rank + added;
  found.vector = 1;
  for (int i = 2; i < shape.rank; ++i) {
    found.dims[i + added] = shape.dims[i];
    found.strides[i + added] = shape.strides[i];
  }
  const bool is_one = shape.dims[1] == 1;  // repeated along the channels
  int64_t sizes[] = {most, least};
  if (added == 1) sizes[0] = least;
  found.dims[1] = is_one ? 1 : shape.dims[1] / sizes[0];
  found.strides[1] = shape.channel_offset(sizes[0]);
  if (added == 2) {
    found.dims[2] = is_one ? 1 : most / least;
    found.strides[2] = shape.channel_offset(least);
  }
  found.dims[1 + added] = is_one ? 1 : least;
  found.strides[1 + added] = shape.channel_offset(1);
  return found;
}

}  // namespace

int split_channels(std::initializer_list<Shape*> shapes) noexcept {
  int64_t least = 0, most = 1;
  for (const Shape* each : shapes) {
    if (each->vector == 1) continue;
    least = least == 0 ? each->vector : std::min(least, each->vector);
    most = std::max(most, each->vector);
  }
  if (least == 0) return 0;
  for (Shape* each : shapes) *each = split(*each, least, most);
  return most > least ? 2 : 1;
}

}  // namespace km::cudnn
