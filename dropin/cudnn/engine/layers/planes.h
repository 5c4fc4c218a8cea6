// Planes: the elements of one image and one channel, in the order of their spatial dimensions.
#pragma once

#include <vector>

#include "dropin/cudnn/engine/space.h"

namespace km::cudnn {

/// The number of elements of a plane.
int64_t plane_size(const Shape& shape);
/// The elements of a plane; planes are numbered channel by channel, then image by image.
std::vector<double> read_plane(const View& view, int64_t plane);
/// plane = alpha values + beta plane. What is there is read only if beta is not 0.
void write_plane(const View& view, int64_t plane, double alpha, double beta,
                 const std::vector<double>& values);

}  // namespace km::cudnn
