#include "core/kernel/launch_shape.h"

#include <cinttypes>

namespace km {
namespace {

constexpr char kAxes[] = "xyz";

Error invalid_dimension(const char* what, uint32_t axis, uint32_t given, uint32_t limit) {
  return make_error(KM_ERROR_INVALID_LAUNCH, "%s.%c is %u; expected 1 to %u", what, kAxes[axis],
                    given, limit);
}

Status check_block_size(const km_device_info& info, const std::array<uint32_t, 3>& block) {
  // Each factor is within its device limit, so that the product fits 64 bits.
  const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  if (threads <= info.max_threads_per_block) return {};
  return make_error(KM_ERROR_INVALID_LAUNCH,
                    "a block of %u x %u x %u is %" PRIu64 " threads; device %s runs at most %u",
                    block[0], block[1], block[2], threads, info.uri, info.max_threads_per_block);
}

}  // namespace

Status check_shape(const Device& device, const LaunchShape& shape) {
  const km_device_info& info = device.info();
  for (uint32_t axis = 0; axis < 3; ++axis) {
    if (shape.grid[axis] == 0 || shape.grid[axis] > info.max_grid_dim[axis]) {
      return invalid_dimension("grid", axis, shape.grid[axis], info.max_grid_dim[axis]);
    }
    if (shape.block[axis] == 0 || shape.block[axis] > info.max_block_dim[axis]) {
      return invalid_dimension("block", axis, shape.block[axis], info.max_block_dim[axis]);
    }
  }
  if (shape.shared_bytes > info.shared_bytes_per_block_max) {
    return make_error(KM_ERROR_INVALID_LAUNCH,
                      "shared_bytes is %" PRIu64 "; device %s has at most %" PRIu64 " per block",
                      shape.shared_bytes, info.uri, info.shared_bytes_per_block_max);
  }
  return check_block_size(info, shape.block);
}

kmb_launch native_launch(const LaunchShape& shape, const void* arguments,
                         uint64_t arguments_size_bytes) {
  return {{shape.grid[0], shape.grid[1], shape.grid[2]},
          {shape.block[0], shape.block[1], shape.block[2]},
          shape.shared_bytes,
          arguments,
          arguments_size_bytes,
          {shape.cluster[0], shape.cluster[1], shape.cluster[2]},
          shape.is_cooperative ? 1U : 0U};
}

}  // namespace km
