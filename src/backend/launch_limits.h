// The checks of a launch's dimensions that all engines of ours make alike.
#pragma once

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/text.h"

namespace km {

/// The limits of a block: of the device, and of the kernel.
struct BlockLimits {
  const uint32_t* max_dim;  // along x, y, z
  uint32_t device_threads, kernel_threads;
  const std::array<uint32_t, 3>& required;  // .reqntid; 0: any
};

inline Error dimension_error(const std::string& kernel, const char* what, int axis, uint32_t value,
                             uint32_t most) {
  return make_error(KM_ERROR_INVALID_LAUNCH, "kernel '%s': %s.%c is %u, not in 1 to %u",
                    source_name(kernel).c_str(), what, "xyz"[axis], value, most);
}

/// KM_ERROR_INVALID_LAUNCH for a grid with too few or too many blocks along an axis.
inline Status check_grid_limits(const std::string& kernel, const uint32_t grid[3],
                                const uint32_t most[3]) {
  for (int i = 0; i < 3; ++i) {
    if (grid[i] != 0 && grid[i] <= most[i]) continue;
    return dimension_error(kernel, "grid", i, grid[i], most[i]);
  }
  return {};
}

/// KM_ERROR_INVALID_LAUNCH for a block that the device or the kernel cannot have.
inline Status check_block_limits(const std::string& kernel, const uint32_t block[3],
                                 const BlockLimits& limits) {
  for (int i = 0; i < 3; ++i) {
    if (block[i] != 0 && block[i] <= limits.max_dim[i]) continue;
    return dimension_error(kernel, "block", i, block[i], limits.max_dim[i]);
  }
  const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  const uint32_t most = std::min(limits.kernel_threads, limits.device_threads);
  if (threads > most) {
    return make_error(KM_ERROR_INVALID_LAUNCH,
                      "kernel '%s': %" PRIu64 " threads per block (%ux%ux%u), at most %u allowed%s",
                      source_name(kernel).c_str(), threads, block[0], block[1], block[2], most,
                      most < limits.device_threads ? " by its launch bounds (.maxntid)" : "");
  }
  const std::array<uint32_t, 3>& required = limits.required;
  if (required[0] != 0 && !std::equal(required.begin(), required.end(), block)) {
    return make_error(KM_ERROR_INVALID_LAUNCH,
                      "kernel '%s' requires blocks of %ux%ux%u (.reqntid), not %ux%ux%u",
                      source_name(kernel).c_str(), required[0], required[1], required[2], block[0],
                      block[1], block[2]);
  }
  return {};
}

/// The error for arguments of a wrong size.
[[gnu::cold]] inline Error wrong_arguments_size(const std::string& kernel, uint64_t param_bytes,
                                                uint64_t given_bytes) {
  return make_error(KM_ERROR_INVALID_LAUNCH, "kernel '%s' takes %s of arguments, not %" PRIu64,
                    source_name(kernel).c_str(), counted(param_bytes, "byte").c_str(), given_bytes);
}

}  // namespace km
