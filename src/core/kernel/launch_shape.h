// The shape of a launch and its check against a device's limits.
#pragma once

#include <array>
#include <cstdint>

#include "core/device/device.h"

namespace km {

/// Grid, block and cluster of a launch, and its dynamic shared memory.
struct LaunchShape {
  std::array<uint32_t, 3> grid{};
  std::array<uint32_t, 3> block{};
  uint64_t shared_bytes = 0;
  std::array<uint32_t, 3> cluster{};  // in blocks; all 0: the kernel's own
  bool is_cooperative = false;
};

/// True if check_shape() would succeed. Makes no message, so it is cheap.
inline bool fits_device(const km_device_info& info, const LaunchShape& shape) {
  bool fits = shape.shared_bytes <= info.shared_bytes_per_block_max;
  for (int axis = 0; axis < 3; ++axis) {  // a size of 0 wraps around and exceeds every limit
    fits &= shape.grid[axis] - 1 < info.max_grid_dim[axis];
    fits &= shape.block[axis] - 1 < info.max_block_dim[axis];
  }
  return fits &&
         uint64_t{shape.block[0]} * shape.block[1] * shape.block[2] <= info.max_threads_per_block;
}
/// Checks grid, block and shared memory against the device's limits; the backend checks the
/// kernel's own.
Status check_shape(const Device& device, const LaunchShape& shape);
/// Converts a launch to the form that backends take.
kmb_launch native_launch(const LaunchShape& shape, const void* arguments,
                         uint64_t arguments_size_bytes);

}  // namespace km
